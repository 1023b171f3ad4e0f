"""The endpoint under schemathesis, driven by its own OpenAPI schema."""

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from kedge.data.demo import review_model
from kedge.results.explanation import FORMAT
from kedge.workbench.app import create_app
from kedge.workbench.settings import Settings

pytestmark = pytest.mark.serve

app = create_app(review_model(), Settings(seconds=5))
schema = schemathesis.openapi.from_asgi("/openapi.json", app, headers={"host": "localhost"})


@schema.parametrize()
@settings(
    max_examples=40,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_any_request_is_answered(case):
    """Whatever fits the schema, or misses it, there is no 5xx and the answer is as documented."""
    case.call_and_validate(
        headers={"host": "localhost"},
        checks=[
            not_a_server_error,
            status_code_conformance,
            content_type_conformance,
            response_schema_conformance,
        ],
    )


def test_the_schema_names_what_services_call():
    """The addresses of the endpoint are documented, with the explanation's own schema."""
    document = schema.raw_schema
    for path in ("/api/explain", "/api/precision", "/api/influence", "/api/flip", "/api/model", "/healthz"):
        assert path in document["paths"]
    assert "Explanation" in document["components"]["schemas"]
    assert document["components"]["schemas"]["Explanation"]["properties"]["format"]["const"] == FORMAT
