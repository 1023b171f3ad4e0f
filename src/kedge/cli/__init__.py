"""The command line: ``kedge demo``, ``kedge explain``, and one module for each further command.

Bad input is one sentence on standard error and exit code 2; a traceback would be a bug.
"""

import sys
from difflib import get_close_matches
from importlib import import_module

import click

from kedge import __version__
from kedge.cli.wording import on_one_line, typed
from kedge.errors import KedgeError
from kedge.utils.sentences import spelled

__all__ = ["main"]

# Each command and the module that holds it, imported only when it is used.
COMMANDS = {
    "demo": "kedge.cli.demo",
    "explain": "kedge.cli.explain",
    "flip": "kedge.cli.flip",
    "evaluate": "kedge.cli.evaluate",
    "verify": "kedge.cli.verify",
    "corpus": "kedge.cli.corpus",
    "serve": "kedge.cli.serve",
    "reproduce": "kedge.cli.reproduce",
}


class _Commands(click.Group):
    """A group that imports a command when it is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(COMMANDS[cmd_name]).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Refuse a command that does not exist, and name the nearest one that does."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            near = get_close_matches(name, COMMANDS, n=1)
            which = f"did you mean {near[0]}?" if near else f"there are {', '.join(COMMANDS)}."
            ctx.fail(f"There is no command {name!r}; {which}")
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version=__version__, prog_name="kedge")
def program() -> None:
    """Explain the decisions of text classifiers.

    kedge finds the shortest set of words that keeps a text's label while the other words are removed at
    random. Start with: kedge demo
    """


def main() -> None:
    """Run the command line; every refusal is one sentence and exit code 2."""
    try:
        program(prog_name="kedge", standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("kedge: interrupted", err=True)
        sys.exit(130)
    except click.ClickException as error:
        click.echo(_usage(error), err=True)
        sys.exit(2)
    except KedgeError as error:
        click.echo(f"kedge: {on_one_line(spelled(error.sentence, typed))}", err=True)
        sys.exit(2)
    except OSError as error:  # a full disk, for one; files that were named are refused by their commands
        where = error.filename or "the output"
        click.echo(f"kedge: Cannot read or write {where}: {error.strerror or error}.", err=True)
        sys.exit(1)


def _usage(error: click.ClickException) -> str:
    """What is wrong with what was typed, on one line, and where the options are explained."""
    message = error.format_message()
    where = getattr(error, "ctx", None)
    if where is not None and message == where.get_help():
        return message  # nothing was typed at all: that is answered by the help
    said = f"kedge: {on_one_line(message)}"
    if "unexpected extra argument" in said and where is not None and where.info_name in {"explain", "flip"}:
        said = f"{said.rstrip('.')}; put a text of several words in quotes"
    said += "" if said.endswith((".", "?")) else "."
    return said if where is None else f"{said} See {where.command_path} --help."
