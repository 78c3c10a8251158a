BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0004');
CREATE TABLE attempt (
	match_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	owner VARCHAR NOT NULL, 
	host VARCHAR NOT NULL, 
	started BIGINT NOT NULL, 
	ended BIGINT, 
	state VARCHAR NOT NULL, 
	reason VARCHAR NOT NULL, 
	record_sha256 VARCHAR NOT NULL, 
	PRIMARY KEY (match_id, number), 
	CONSTRAINT attempt_state CHECK (state IN ('leased', 'recorded', 'void', 'lost', 'fenced')), 
	FOREIGN KEY(match_id) REFERENCES "match" (id)
);
INSERT INTO "attempt" VALUES(1,1,'f1802e95ecc64682b7d1933f01bdde12','host-of-then',1796051924355,1796051927196,'recorded','','ab');
INSERT INTO "attempt" VALUES(2,1,'f1802e95ecc64682b7d1933f01bdde12','host-of-then',1796051927229,1796051927249,'recorded','','ab');
INSERT INTO "attempt" VALUES(3,1,'f1802e95ecc64682b7d1933f01bdde12','host-of-then',1796051927268,1796051927274,'recorded','','ab');
INSERT INTO "attempt" VALUES(4,1,'d7d4c844391b4498a743c7c9830655d8','host-of-then',1796051927683,1796051929746,'recorded','','ab');
CREATE TABLE bot (
	id INTEGER NOT NULL, 
	name VARCHAR NOT NULL, 
	folded VARCHAR NOT NULL, 
	created BIGINT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (folded)
);
INSERT INTO "bot" VALUES(1,'first','first',1796051923595);
INSERT INTO "bot" VALUES(2,'last','last',1796051923661);
INSERT INTO "bot" VALUES(3,'middle','middle',1796051923690);
CREATE TABLE bot_version (
	id INTEGER NOT NULL, 
	bot_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	kind VARCHAR NOT NULL, 
	digest VARCHAR NOT NULL, 
	source VARCHAR NOT NULL, 
	created BIGINT NOT NULL, entropy VARCHAR, 
	PRIMARY KEY (id), 
	CONSTRAINT bot_version_kind CHECK (kind IN ('image', 'process')), 
	FOREIGN KEY(bot_id) REFERENCES bot (id), 
	CONSTRAINT bot_version_number UNIQUE (bot_id, number)
);
INSERT INTO "bot_version" VALUES(1,1,1,'process','sha256:930f3deae3e6714330d752c959e1becf9d7b286e46b06fdac020d85b5d95689b','first',1796051923595,'three mice');
INSERT INTO "bot_version" VALUES(2,2,1,'process','sha256:ccef4aac7e9e0ee6e1e0b2b0810c0ffcf6e8b8b18e4be62759c08f555f986b53','last',1796051923661,NULL);
INSERT INTO "bot_version" VALUES(3,3,1,'process','sha256:88bac9357ed56e5afe6a4d52fcfa63b913fc3765987934b11f5569c4e65af7bd','middle',1796051923690,'four rats');
CREATE TABLE change (
	tournament_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	kind VARCHAR NOT NULL, 
	reason_kind VARCHAR NOT NULL, 
	bot_version_id INTEGER NOT NULL, 
	position INTEGER, 
	"after" INTEGER, 
	reason VARCHAR NOT NULL, 
	created BIGINT NOT NULL, 
	PRIMARY KEY (tournament_id, number), 
	CONSTRAINT change_kind CHECK (kind IN ('join', 'leave')), 
	FOREIGN KEY(tournament_id) REFERENCES tournament (id), 
	FOREIGN KEY(bot_version_id) REFERENCES bot_version (id)
);
INSERT INTO "change" VALUES(2,1,'leave','withdrawal',3,2,3,'its author asked for it',1796051930058);
CREATE TABLE entrant (
	tournament_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	bot_version_id INTEGER NOT NULL, pair INTEGER, 
	PRIMARY KEY (tournament_id, position), 
	FOREIGN KEY(bot_version_id) REFERENCES bot_version (id), 
	FOREIGN KEY(tournament_id) REFERENCES tournament (id)
);
INSERT INTO "entrant" VALUES(1,0,1,NULL);
INSERT INTO "entrant" VALUES(1,1,2,NULL);
INSERT INTO "entrant" VALUES(1,2,3,NULL);
INSERT INTO "entrant" VALUES(2,0,1,NULL);
INSERT INTO "entrant" VALUES(2,1,2,NULL);
INSERT INTO "entrant" VALUES(2,2,3,NULL);
INSERT INTO "entrant" VALUES(3,0,1,NULL);
INSERT INTO "entrant" VALUES(3,1,3,NULL);
CREATE TABLE fault (
	id INTEGER NOT NULL, 
	match_id INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	leg INTEGER NOT NULL, 
	deal INTEGER, 
	seat INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	kind VARCHAR NOT NULL, 
	detail VARCHAR NOT NULL, deals_played INTEGER, deals_lost INTEGER, sent VARCHAR, received VARCHAR, limit_us BIGINT, elapsed_us BIGINT, bank_us BIGINT, 
	PRIMARY KEY (id), 
	CONSTRAINT fault_attempt FOREIGN KEY(match_id, attempt) REFERENCES attempt (match_id, number)
);
CREATE TABLE "match" (
	id INTEGER NOT NULL, 
	tournament_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	round INTEGER NOT NULL, 
	seats VARCHAR NOT NULL, 
	stage VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	attempt INTEGER NOT NULL, 
	voids INTEGER NOT NULL, 
	owner VARCHAR, 
	lease_until BIGINT, 
	hard_until BIGINT, 
	reason VARCHAR NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT match_lease CHECK ((state = 'leased') = (owner IS NOT NULL AND lease_until IS NOT NULL AND hard_until IS NOT NULL)), 
	CONSTRAINT match_state CHECK (state IN ('planned', 'leased', 'done', 'incomplete', 'cancelled')), 
	FOREIGN KEY(tournament_id) REFERENCES tournament (id), 
	CONSTRAINT match_number UNIQUE (tournament_id, number)
);
INSERT INTO "match" VALUES(1,1,1,1,'1 2','','done',1,0,NULL,NULL,NULL,'');
INSERT INTO "match" VALUES(2,1,2,1,'2 0','','done',1,0,NULL,NULL,NULL,'');
INSERT INTO "match" VALUES(3,1,3,1,'0 1','','done',1,0,NULL,NULL,NULL,'');
INSERT INTO "match" VALUES(4,2,1,1,'1 2','','done',1,0,NULL,NULL,NULL,'');
INSERT INTO "match" VALUES(5,2,2,1,'2 0','','cancelled',0,0,NULL,NULL,NULL,'');
INSERT INTO "match" VALUES(6,2,3,1,'0 1','','planned',0,0,NULL,NULL,NULL,'');
INSERT INTO "match" VALUES(7,3,1,1,'0 1','','planned',0,0,NULL,NULL,NULL,'');
CREATE TABLE report (
	match_id INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	leg INTEGER NOT NULL, 
	seat INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	exit_code INTEGER, 
	signal INTEGER, 
	out_of_memory BOOLEAN NOT NULL, 
	cpu_seconds FLOAT, 
	peak_memory BIGINT, 
	log VARCHAR NOT NULL, 
	log_truncated BOOLEAN NOT NULL, memory_limit BIGINT, memory_kills INTEGER, throttled_seconds FLOAT, throttled_periods INTEGER, start_seconds FLOAT, log_bytes INTEGER, decisions INTEGER, answers INTEGER, time_us BIGINT, p50_us BIGINT, p95_us BIGINT, p99_us BIGINT, max_us BIGINT, sending_us BIGINT, sent_bytes BIGINT, sent_messages INTEGER, received_bytes BIGINT, received_messages INTEGER, 
	PRIMARY KEY (match_id, attempt, leg, seat), 
	CONSTRAINT report_attempt FOREIGN KEY(match_id, attempt) REFERENCES attempt (match_id, number)
);
CREATE TABLE result (
	match_id INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	recorded BIGINT NOT NULL, 
	decks VARCHAR NOT NULL, 
	sides VARCHAR NOT NULL, 
	totals VARCHAR NOT NULL, 
	conditions VARCHAR NOT NULL, 
	milliseconds BIGINT NOT NULL, 
	record VARCHAR NOT NULL, 
	record_sha256 VARCHAR NOT NULL, 
	PRIMARY KEY (match_id), 
	CONSTRAINT result_attempt FOREIGN KEY(match_id, attempt) REFERENCES attempt (match_id, number), 
	FOREIGN KEY(match_id) REFERENCES "match" (id)
);
INSERT INTO "result" VALUES(1,1,1796051927196,'[[["1", "-1"]]]','','["1", "-1"]','',5,'records/cup/1/1/x.jsonl','ab');
INSERT INTO "result" VALUES(2,1,1796051927249,'[[["-7", "7"]]]','','["-7", "7"]','',5,'records/cup/1/1/x.jsonl','ab');
INSERT INTO "result" VALUES(3,1,1796051927274,'[[["6", "-6"]]]','','["6", "-6"]','',5,'records/cup/1/1/x.jsonl','ab');
INSERT INTO "result" VALUES(4,1,1796051929746,'[[["1", "-1"]]]','','["1", "-1"]','',5,'records/cup/1/1/x.jsonl','ab');
CREATE TABLE saved_rules (
	id INTEGER NOT NULL, 
	name VARCHAR NOT NULL, 
	folded VARCHAR NOT NULL, 
	variant VARCHAR NOT NULL, 
	rules VARCHAR NOT NULL, 
	created BIGINT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (folded)
);
CREATE TABLE "tournament" (
	id INTEGER NOT NULL, 
	name VARCHAR NOT NULL, 
	folded VARCHAR NOT NULL, 
	created BIGINT NOT NULL, 
	started BIGINT, 
	variant VARCHAR NOT NULL, 
	rules VARCHAR NOT NULL, 
	format VARCHAR NOT NULL, 
	seats INTEGER NOT NULL, 
	rounds INTEGER, 
	options VARCHAR NOT NULL, 
	seeding VARCHAR NOT NULL, 
	frozen BOOLEAN NOT NULL, 
	decks INTEGER NOT NULL, 
	match_format VARCHAR NOT NULL, 
	tables INTEGER NOT NULL, 
	move_time_ms INTEGER NOT NULL, 
	bank_ms INTEGER NOT NULL, 
	increment_ms INTEGER NOT NULL, 
	startup_ms INTEGER NOT NULL, 
	sandbox VARCHAR NOT NULL, 
	seed VARCHAR NOT NULL, 
	seed_given BOOLEAN NOT NULL, 
	commitment VARCHAR NOT NULL, 
	entropy VARCHAR, 
	complete BOOLEAN NOT NULL, 
	stopped BIGINT, 
	PRIMARY KEY (id), 
	UNIQUE (folded)
);
INSERT INTO "tournament" VALUES(1,'winter','winter',1796051923746,1796051924089,'bura','{"players": [2, 3, 4, 5, 6], "deck": 36, "low_rank_order": "6789", "hand_size": 3, "trump": "indicator", "indicator": "bottom", "end_indicator": "keep", "first_lead": "left_of_dealer", "next_lead": "last_taker", "next_dealer": "winner", "dealt_combination": "redeal", "hands": "private", "lead_sizes": [1, 2, 3], "trump_immune_suit": "none", "discards": "closed_optional", "draw_order": "round_robin", "short_stock": "set_aside", "short_hand": "give_all", "leftover_points": "last_taker", "goal": "claim", "claim_window": "on_lead", "target": 31, "false_claim": "lose_double", "claim_vs_combination": "claim_first", "final_claim": "yes", "no_claim": "void", "max_void": 3, "top_tie": "zero_each", "fault_cost": "deal", "combinations": ["moscow", "bura", "little_moscow", "molodka"], "moscow": "three_aces", "little_moscow": "sixes_with_trump", "bura_tie": "leader_unless_covered", "stop_block": "declared", "same_rank_leads": "no", "raise_": "no", "sides": "each", "match_format": "robber", "robber_target": 21, "robber_margin": 2, "penalty_limit": 12, "on_limit": "match_over", "double_as": "penalty", "four_singles_mark": 31, "six_for": "zero_points", "eyes": "each_side", "eyes_target": 12, "ante": 1, "draw_carry": "double_once", "max_deals": 1000}','round-robin',2,NULL,'{}','given',0,1,'series',32,1000,0,0,20000,'process','000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f',1,'630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd','[["first@1", "three mice", 1796051923595], ["middle@1", "four rats", 1796051923690]]',1,NULL);
INSERT INTO "tournament" VALUES(2,'spring','spring',1796051927555,1796051927617,'bura','{"players": [2, 3, 4, 5, 6], "deck": 36, "low_rank_order": "6789", "hand_size": 3, "trump": "indicator", "indicator": "bottom", "end_indicator": "keep", "first_lead": "left_of_dealer", "next_lead": "last_taker", "next_dealer": "winner", "dealt_combination": "redeal", "hands": "private", "lead_sizes": [1, 2, 3], "trump_immune_suit": "none", "discards": "closed_optional", "draw_order": "round_robin", "short_stock": "set_aside", "short_hand": "give_all", "leftover_points": "last_taker", "goal": "claim", "claim_window": "on_lead", "target": 31, "false_claim": "lose_double", "claim_vs_combination": "claim_first", "final_claim": "yes", "no_claim": "void", "max_void": 3, "top_tie": "zero_each", "fault_cost": "deal", "combinations": ["moscow", "bura", "little_moscow", "molodka"], "moscow": "three_aces", "little_moscow": "sixes_with_trump", "bura_tie": "leader_unless_covered", "stop_block": "declared", "same_rank_leads": "no", "raise_": "no", "sides": "each", "match_format": "robber", "robber_target": 21, "robber_margin": 2, "penalty_limit": 12, "on_limit": "match_over", "double_as": "penalty", "four_singles_mark": 31, "six_for": "zero_points", "eyes": "each_side", "eyes_target": 12, "ante": 1, "draw_carry": "double_once", "max_deals": 1000}','round-robin',2,NULL,'{}','given',0,1,'series',32,1000,0,0,20000,'process','000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f',1,'630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd','[["first@1", "three mice", 1796051923595], ["middle@1", "four rats", 1796051923690]]',0,NULL);
INSERT INTO "tournament" VALUES(3,'summer','summer',1796051930115,NULL,'bura','{"players": [2, 3, 4, 5, 6], "deck": 36, "low_rank_order": "6789", "hand_size": 3, "trump": "indicator", "indicator": "bottom", "end_indicator": "keep", "first_lead": "left_of_dealer", "next_lead": "last_taker", "next_dealer": "winner", "dealt_combination": "redeal", "hands": "private", "lead_sizes": [1, 2, 3], "trump_immune_suit": "none", "discards": "closed_optional", "draw_order": "round_robin", "short_stock": "set_aside", "short_hand": "give_all", "leftover_points": "last_taker", "goal": "claim", "claim_window": "on_lead", "target": 31, "false_claim": "lose_double", "claim_vs_combination": "claim_first", "final_claim": "yes", "no_claim": "void", "max_void": 3, "top_tie": "zero_each", "fault_cost": "deal", "combinations": ["moscow", "bura", "little_moscow", "molodka"], "moscow": "three_aces", "little_moscow": "sixes_with_trump", "bura_tie": "leader_unless_covered", "stop_block": "declared", "same_rank_leads": "no", "raise_": "no", "sides": "each", "match_format": "robber", "robber_target": 21, "robber_margin": 2, "penalty_limit": 12, "on_limit": "match_over", "double_as": "penalty", "four_singles_mark": 31, "six_for": "zero_points", "eyes": "each_side", "eyes_target": 12, "ante": 1, "draw_carry": "double_once", "max_deals": 1000}','round-robin',2,NULL,'{}','given',0,1,'series',32,1000,0,0,20000,'process','000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f',1,'630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd',NULL,1,NULL);
CREATE INDEX fault_by_match ON fault (match_id, attempt);
CREATE INDEX match_by_state ON "match" (tournament_id, state, number);
COMMIT;
