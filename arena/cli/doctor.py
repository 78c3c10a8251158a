"""`arena doctor`: what of this machine is in the way of fair and safe matches."""

import click

from arena import doctor as examination
from arena.cli.context import App, Documented, common_options
from arena.sandbox.host import Level

MARKS = {Level.OK: "ok", Level.NOTE: "note", Level.WARNING: "warning", Level.ERROR: "ERROR"}


@click.command(
    cls=Documented,
    examples=["arena doctor", "arena doctor --no-probe", "arena doctor --json"],
    fields={
        "ok": "whether nothing is to be mended",
        "findings[]": "one check:",
        "findings[].check": "its name",
        "findings[].level": "ok, note, warning or error",
        "findings[].text": "what was found",
        "findings[].fix": "what to do about it, empty if nothing is to be done",
    },
)
@click.option(
    "--probe/--no-probe",
    default=True,
    show_default=True,
    help="Start bots that take more than they may, and measure how long answers take.",
)
@common_options
@click.pass_context
def doctor(context: click.Context, *, probe: bool, as_json: bool) -> None:
    """Look this machine over before a tournament.

    Names what makes clocks unfair, limits that are missing, an old engine, how answers travel, and
    what dead runs left behind, each with how to mend it. Exit code 1 if something is to be mended,
    3 if bots cannot be run here in containers.
    """
    app = context.ensure_object(App)
    output = app.output
    findings = []
    for finding in examination.examine(app.home, probe=probe, say=output.status):
        findings.append(finding)
        if not as_json:
            output.line(f"{MARKS[finding.level]:8}{finding.check}: {finding.text}")
            if finding.fix and finding.level is not Level.OK:
                output.line(f"{'':8}  to mend it: {finding.fix}")
    code = examination.verdict(findings)
    if as_json:
        output.json(
            {
                "ok": code == 0,
                "findings": [
                    {
                        "check": finding.check,
                        "level": finding.level,
                        "text": finding.text,
                        "fix": finding.fix,
                    }
                    for finding in findings
                ],
            }
        )
    context.exit(code)
