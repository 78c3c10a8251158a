BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL,
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0003');
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
INSERT INTO "attempt" VALUES(1,1,'098e5e5ff63e494c9ce1842809cc4279','host-of-then',1796040233323,1796040235910,'recorded','','98fa04bcbae09c13088fe28aacc9dd1643a985c343a48fca162d7f88fb821877');
INSERT INTO "attempt" VALUES(2,1,'098e5e5ff63e494c9ce1842809cc4279','host-of-then',1796040235924,1796040237184,'recorded','','faa8cfa4284937ffca52c669493a3cac85968ca55fd1b0126bf4fcc74518084a');
CREATE TABLE bot (
	id INTEGER NOT NULL,
	name VARCHAR NOT NULL,
	folded VARCHAR NOT NULL,
	created BIGINT NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (folded)
);
INSERT INTO "bot" VALUES(1,'first','first',1796040233144);
INSERT INTO "bot" VALUES(2,'last','last',1796040233171);
INSERT INTO "bot" VALUES(3,'middle','middle',1796040233179);
CREATE TABLE bot_version (
	id INTEGER NOT NULL,
	bot_id INTEGER NOT NULL,
	number INTEGER NOT NULL,
	kind VARCHAR NOT NULL,
	digest VARCHAR NOT NULL,
	source VARCHAR NOT NULL,
	created BIGINT NOT NULL,
	PRIMARY KEY (id),
	CONSTRAINT bot_version_kind CHECK (kind IN ('image', 'process')),
	FOREIGN KEY(bot_id) REFERENCES bot (id),
	CONSTRAINT bot_version_number UNIQUE (bot_id, number)
);
INSERT INTO "bot_version" VALUES(1,1,1,'process','sha256:edb3513627c9b871ec8223949dc62d60f9fa5ff8303b8826e445092922346e52','first',1796040233144);
INSERT INTO "bot_version" VALUES(2,2,1,'process','sha256:a713f8dd6aeb71f4ed8786e338b7028dc79e3f839d2174fb6678923a0ee3c6ce','last',1796040233171);
INSERT INTO "bot_version" VALUES(3,3,1,'process','sha256:d103b83529c652a8227842680082d4edd0e4492bcae8f613919d78f102f07c11','middle',1796040233179);
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
	state VARCHAR NOT NULL,
	attempt INTEGER NOT NULL,
	voids INTEGER NOT NULL,
	owner VARCHAR,
	lease_until BIGINT,
	hard_until BIGINT,
	reason VARCHAR NOT NULL,
	PRIMARY KEY (id),
	CONSTRAINT match_lease CHECK ((state = 'leased') = (owner IS NOT NULL AND lease_until IS NOT NULL AND hard_until IS NOT NULL)),
	CONSTRAINT match_state CHECK (state IN ('planned', 'leased', 'done', 'incomplete')),
	FOREIGN KEY(tournament_id) REFERENCES tournament (id),
	CONSTRAINT match_number UNIQUE (tournament_id, number)
);
INSERT INTO "match" VALUES(1,1,1,1,'1 2','done',1,0,NULL,NULL,NULL,'');
INSERT INTO "match" VALUES(2,1,2,1,'2 0','done',1,0,NULL,NULL,NULL,'');
INSERT INTO "match" VALUES(3,1,3,1,'0 1','planned',0,0,NULL,NULL,NULL,'');
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
INSERT INTO "report" VALUES(1,1,0,0,1,0,NULL,0,0.123806,41594880,'',0,268435456,NULL,NULL,NULL,0.004452016,0,13,12,6271,333,2035,2035,2035,381,2704,15,92,12);
INSERT INTO "report" VALUES(1,1,0,1,2,0,NULL,0,0.118666,41639936,'',0,268435456,NULL,NULL,NULL,0.003848159,0,9,8,7755,546,4596,4596,4596,2409,2327,11,66,8);
INSERT INTO "report" VALUES(1,1,1,0,2,0,NULL,0,0.118003,41627648,'',0,268435456,NULL,NULL,NULL,0.009843683,0,15,14,11261,552,2711,2711,2711,402,3091,17,116,14);
INSERT INTO "report" VALUES(1,1,1,1,1,0,NULL,0,1.1899699999999999167e-01,41590784,'',0,268435456,NULL,NULL,NULL,0.009636195,0,27,26,15745,346,2312,4772,4772,1992,4332,29,188,26);
INSERT INTO "report" VALUES(2,1,0,0,2,0,NULL,0,0.1143,41627648,'',0,268435456,NULL,NULL,NULL,0.009320701,0,19,16,14051,517,4329,4329,4329,530,3659,19,140,16);
INSERT INTO "report" VALUES(2,1,0,1,0,0,NULL,0,1.19301999999999991386e-01,41517056,'',0,268435456,NULL,NULL,NULL,0.008933155,0,30,27,15067,332,1509,4124,4124,1541,4690,30,174,27);
INSERT INTO "report" VALUES(2,1,1,0,0,0,NULL,0,1.14601000000000008416e-01,41574400,'',0,268435456,NULL,NULL,NULL,0.009884233,0,7,5,2626,434,880,880,880,215,2048,8,38,5);
INSERT INTO "report" VALUES(2,1,1,1,2,0,NULL,0,1.1323799999999999144e-01,41525248,'',0,268435456,NULL,NULL,NULL,0.009702884,0,6,4,2051,566,605,605,605,209,1949,7,40,4);
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
INSERT INTO "result" VALUES(1,1,1796040235910,'[[["-2", "2"], ["-2", "2"]], [["-2", "2"], ["-1", "1"]]]','','["-7", "7"]','shared cores',1273,'records/spring/1/1/98fa04bcbae09c13088fe28aacc9dd1643a985c343a48fca162d7f88fb821877.jsonl','98fa04bcbae09c13088fe28aacc9dd1643a985c343a48fca162d7f88fb821877');
INSERT INTO "result" VALUES(2,1,1796040237184,'[[["0", "0"], ["-1", "1"]], [["1", "-1"], ["-1", "1"]]]','','["-1", "1"]','shared cores',1257,'records/spring/2/1/faa8cfa4284937ffca52c669493a3cac85968ca55fd1b0126bf4fcc74518084a.jsonl','faa8cfa4284937ffca52c669493a3cac85968ca55fd1b0126bf4fcc74518084a');
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
CREATE TABLE tournament (
	id INTEGER NOT NULL,
	name VARCHAR NOT NULL,
	folded VARCHAR NOT NULL,
	created BIGINT NOT NULL,
	started BIGINT,
	variant VARCHAR NOT NULL,
	rules VARCHAR NOT NULL,
	format VARCHAR NOT NULL,
	seats INTEGER NOT NULL,
	rounds INTEGER NOT NULL,
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
	PRIMARY KEY (id),
	UNIQUE (folded)
);
INSERT INTO "tournament" VALUES(1,'spring','spring',1796040233185,1796040233320,'bura','{"players": [2, 3, 4, 5, 6], "deck": 36, "low_rank_order": "6789", "hand_size": 3, "trump": "indicator", "indicator": "bottom", "end_indicator": "keep", "first_lead": "left_of_dealer", "next_lead": "last_taker", "next_dealer": "winner", "dealt_combination": "redeal", "hands": "private", "lead_sizes": [1, 2, 3], "trump_immune_suit": "none", "discards": "closed_optional", "draw_order": "round_robin", "short_stock": "set_aside", "short_hand": "give_all", "leftover_points": "last_taker", "goal": "claim", "claim_window": "on_lead", "target": 31, "false_claim": "lose_double", "claim_vs_combination": "claim_first", "final_claim": "yes", "no_claim": "void", "max_void": 3, "top_tie": "zero_each", "fault_cost": "deal", "combinations": ["moscow", "bura", "little_moscow", "molodka"], "moscow": "three_aces", "little_moscow": "sixes_with_trump", "bura_tie": "leader_unless_covered", "stop_block": "declared", "same_rank_leads": "no", "raise_": "no", "sides": "each", "match_format": "robber", "robber_target": 21, "robber_margin": 2, "penalty_limit": 12, "on_limit": "match_over", "double_as": "penalty", "four_singles_mark": 31, "six_for": "zero_points", "eyes": "each_side", "eyes_target": 12, "ante": 1, "draw_carry": "double_once", "max_deals": 1000}','round-robin',2,1,2,'series',32,20000,0,0,20000,'process','000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f',1,'630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd');
CREATE INDEX match_by_state ON "match" (tournament_id, state, number);
CREATE INDEX fault_by_match ON fault (match_id, attempt);
COMMIT;
