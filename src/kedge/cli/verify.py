"""``kedge verify``: whether a certificate proves what it claims."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from kedge.certificates import recheck
from kedge.cli.models import load_model
from kedge.cli.wording import on_one_line
from kedge.errors import CertificateError, StorageError
from kedge.model.answers.outputs import OUTPUTS, Outputs
from kedge.utils.messages import readable_json

__all__ = ["command"]


@click.command("verify", short_help="Check the certificate of an explanation.")
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--model", help="Also check against this model: module:attribute, a file, or reviews.")
@click.option("--trust", is_flag=True, help="Allow a model file that runs code when it is loaded.")
@click.option("--outputs", type=click.Choice(OUTPUTS), default="auto", help="What a callable's numbers mean.")
@click.option(
    "--ask", type=click.IntRange(min=1), help="How many of the predictions to make again.  [default: all]"
)
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
def command(
    file: str, model: str | None, trust: bool, outputs: Outputs, ask: int | None, as_json: bool
) -> None:
    """Check the certificate in FILE; exit code 1 if it is rejected.

    Without --model, kedge checks that the claim follows from what the certificate says about the model. With
    --model, it also compares that with the model: weights are read and predictions made again.
    """
    certificate = _read(file)
    try:
        _refuse_other_json(certificate)
        against = None if model is None else load_model(model, trust=trust)
        said, accepted = recheck.verify(certificate, against, ask=ask, outputs=outputs), True
    except CertificateError as wrong:
        said, accepted = str(wrong), False
    if as_json:
        click.echo(readable_json({"accepted": accepted, "reason": said}))
    else:
        click.echo(f"{'accepted' if accepted else 'rejected'}: {on_one_line(said)}")
    sys.exit(0 if accepted else 1)


def _refuse_other_json(certificate: Any) -> None:
    """An explanation, for one, would only be said to be not well formed."""
    if not isinstance(certificate, dict) or "proof" not in certificate:
        raise CertificateError("The file is not a certificate; kedge explain --certificate FILE writes one.")


def _read(file: str) -> Any:
    try:
        return json.loads(Path(file).read_bytes())
    except OSError as error:
        raise StorageError(f"{file} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError):
        raise StorageError(f"{file} is not JSON.") from None
