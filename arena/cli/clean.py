"""`arena clean`: removes what dead runs left behind."""

import click

from arena import cleaning
from arena.cli.context import App, Documented, common_options
from arena.cli.errors import DONE, FAILED
from arena.sandbox import EngineMissingError, Sandbox, find_sandbox
from arena.sandbox.container import ContainerSandbox

HOURS = 24.0


@click.command(
    cls=Documented,
    examples=["arena clean", "arena clean --dry-run", "arena clean --images --older-than 48"],
    fields={
        "dry_run": "whether nothing was removed",
        "removed[]": "what was removed, or would be:",
        "removed[].kind": "container, socket folder, temporary folder, record, log, draft or image",
        "removed[].name": "which one",
        "removed[].why": "why nobody needs it",
        "kept[]": "what could not be removed, with the fields above and:",
        "kept[].reason": "why it could not be",
    },
)
@click.option(
    "--images",
    "with_images",
    is_flag=True,
    help="Also remove images of bots that no arena has taken in and no container uses.",
)
@click.option(
    "--older-than",
    "hours",
    type=click.FloatRange(min=0),
    default=HOURS,
    show_default=True,
    metavar="HOURS",
    help="With --images: only those not used for so long.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be removed, and remove nothing.")
@common_options
@click.pass_context
def clean(
    context: click.Context, *, with_images: bool, hours: float, dry_run: bool, as_json: bool
) -> None:
    """Remove what dead runs left behind.

    Containers, socket folders and temporary folders whose owner does not run on this machine,
    records and logs of attempts that do not count, and drafts that nobody writes any more. Nothing
    is pruned, and what a running match uses stays; where other machines or containers use the same
    engine, see first with --dry-run. Exit code 1 if something could not be removed.
    """
    app = context.ensure_object(App)
    output = app.output
    sandbox = _container_sandbox(app, needed=with_images)
    found = cleaning.find_leftovers(app.home, sandbox, removes=not dry_run)
    if sandbox is not None and with_images:
        found += cleaning.unused_images(app.home, sandbox, hours)
    removed, kept = [], []
    for one in found:
        reason = "" if dry_run else one.remove()
        row = {"kind": one.kind, "name": one.name, "why": one.why}
        if reason:
            kept.append({**row, "reason": reason})
        else:
            removed.append(row)
        if not as_json:
            word = f"cannot remove ({reason})" if reason else "removed"
            word = "would remove" if dry_run else word
            output.line(f"{word} {one.kind} {one.name}: {one.why}")
    if as_json:
        output.json({"dry_run": dry_run, "removed": removed, "kept": kept})
    elif not found:
        output.line("nothing to remove")
    context.exit(FAILED if kept else DONE)


def _container_sandbox(app: App, *, needed: bool) -> ContainerSandbox | None:
    try:
        sandbox: Sandbox = find_sandbox("container")
    except EngineMissingError as error:
        if needed:
            raise
        app.output.status(f"containers are not looked at: {error.message}")
        return None
    return sandbox if isinstance(sandbox, ContainerSandbox) else None
