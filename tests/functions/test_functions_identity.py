"""Who is let in by the functions, and what the template asks API Gateway to do."""

import json
import subprocess
import sys
from dataclasses import replace

import boto3
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samtranslator.yaml_helper import yaml_parse

from streambank.api.app import ROUTER
from streambank.api.request import Request
from streambank.api.route import Reach
from streambank.errors import PermissionDenied
from streambank.model.principal import Principal, Role
from streambank.settings import AuthMode, Settings
from streambank.wire import http
from streambank_local.emulator.translation import translate
from tests.aws import ROOT
from tests.functions.declared import FUNCTIONS, statements

SETTINGS = {"TABLE_NAME": "t"}


# ---- routes


class Passed(Exception):
    """The handler was reached."""


def reached(route, principal):
    """Tell whether *principal* reaches the handler of *route*; the handler itself is replaced."""

    def handler(request, **_):
        raise Passed

    request = Request({}, http.BankPath("p", "" if route.is_collection else "1", ""), principal)
    with pytest.raises(Passed):
        replace(route, handler=handler, span=None).respond(request, {})
    return True


@given(route=st.sampled_from(ROUTER.routes), roles=st.frozensets(st.sampled_from(Role)), is_bound=st.booleans())
def test_a_route_lets_its_role_in_and_no_other(route, roles, is_bound):
    """The declared role decides; what reaches over all scopes is shut to bound callers."""
    principal = Principal("p", ("1",), roles, {"user_id": "1"} if is_bound else None)
    if route.role in roles and not (is_bound and route.reach is Reach.ALL_SCOPES):
        assert reached(route, principal)
    else:
        with pytest.raises(PermissionDenied):
            route.respond(Request({}, http.BankPath("p", "" if route.is_collection else "1", ""), principal), {})


def test_methods_that_only_look_take_a_role_that_only_looks():
    """No GET takes more than read, and no DELETE or PATCH as little."""
    for route in ROUTER.routes:
        assert (route.role is Role.READ) or route.method != "GET"
        assert route.role in (Role.EDIT, Role.ADMIN) or route.method not in ("PATCH", "DELETE")


# ---- modes


def test_a_deployment_is_closed_by_default():
    """Without the variable callers need keys, and a misspelt mode opens nothing."""
    assert Settings.read(SETTINGS).auth_mode is AuthMode.KEYS
    for mode in AuthMode:
        assert Settings.read(SETTINGS | {"AUTH_MODE": mode}).auth_mode is mode
    for mode in ("", "none", "OPEN", "Keys"):
        with pytest.raises(ValueError, match="not a valid"):
            Settings.read(SETTINGS | {"AUTH_MODE": mode})


@pytest.mark.parametrize("mode", [mode for mode in AuthMode if mode is not AuthMode.OPEN])
@pytest.mark.parametrize("name", ["ingest", "api"])
def test_a_request_without_credentials_is_refused_in_every_mode(monkeypatch, name, mode):
    """An event that no gateway and no key vouches for is 401: also if a route lost its authoriser."""
    for variable, value in {"TABLE_NAME": "t", "AUTH_MODE": mode, "AWS_DEFAULT_REGION": "us-east-1"}.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    event = json.loads((ROOT / "events" / f"{name}.json").read_text())
    event["requestContext"].pop("authorizer", None)
    event["headers"] = {}
    handler = {}
    exec((ROOT / "functions" / f"{name}.py").read_text(), handler)
    reply = handler["handler"](event, None)
    assert reply["statusCode"] == 401
    assert json.loads(reply["body"])["error"]["status"] == "UNAUTHENTICATED"


@pytest.mark.parametrize("name", ["Ingest", "Api"])
def test_whoever_answers_may_look_up_keys(name):
    """A key is one GetItem, and only those who answer callers are told the mode."""
    assert any("dynamodb:GetItem" in statement["Action"] for statement in statements(name))
    told = {other for other, found in FUNCTIONS.items() if "AUTH_MODE" in str(found.get("Environment"))}
    assert told == {"Ingest", "Api"}


def test_ingest_starts_light():
    """Telling who calls brings no pydantic and no resolver into the hot path's cold start."""
    code = (
        "import sys, os; sys.path[:0] = ['shared', '.']; os.environ |= {'TABLE_NAME': 't', 'AWS_DEFAULT_REGION':"
        " 'us-east-1'}; import functions.ingest; print(sorted(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "'streambank.pipeline.api_key_cache'" in found.stdout
    for heavy in ("pydantic", "aws_lambda_powertools.event_handler", "streambank.api.app", "streambank.store.memories"):
        assert f"'{heavy}'" not in found.stdout


# ---- the template


def parsed():
    return yaml_parse((ROOT / "template.yaml").read_text())


def resolved(value, conditions, parameters):
    """Return *value* as CloudFormation would: If, Ref to parameters, NoValue."""
    if isinstance(value, list):
        found = [resolved(one, conditions, parameters) for one in value]
        return [one for one in found if one is not None]
    if not isinstance(value, dict):
        return value
    if set(value) == {"Fn::If"}:
        name, yes, no = value["Fn::If"]
        return resolved(yes if conditions[name] else no, conditions, parameters)
    if value == {"Ref": "AWS::NoValue"}:
        return None
    if set(value) == {"Ref"} and value["Ref"] in parameters:
        return parameters[value["Ref"]]
    found = {key: resolved(one, conditions, parameters) for key, one in value.items()}
    return {key: one for key, one in found.items() if one is not None}


JWT = {"JwtIssuer": "https://issuer.example", "JwtAudience": "me"}


def deployed(mode):
    """Return the API's definition and schemes as they are deployed under *mode*."""
    parameters = {"AuthMode": mode, **JWT}
    translated = translate(parsed(), ROOT, parameters)
    conditions = {
        name: parameters[left["Ref"]] == right
        for name, condition in translated["Conditions"].items()
        if name.startswith("AsksFor")
        for left, right in [condition["Fn::Equals"]]
    }
    conditions |= {"HasIngestRoute": True, "HasCors": False}
    return resolved(translated["Resources"]["HttpApi"]["Properties"]["Body"], conditions, parameters)


def sams_own(auth):
    """Return what SAM itself makes of the same events and *auth*."""
    source = parsed()
    properties = source["Resources"]["HttpApi"]["Properties"]
    del properties["DefinitionBody"]
    properties["Auth"] = auth
    return translate(source, ROOT, {})["Resources"]["HttpApi"]["Properties"]["Body"]


def methods(body):
    return {
        (path, method): (found.get("security"), found["x-amazon-apigateway-integration"])
        for path, methods in body["paths"].items()
        for method, found in methods.items()
    }


@pytest.mark.parametrize(
    ("mode", "auth"),
    [
        ("keys", {}),
        ("iam", {"EnableIamAuthorizer": True, "DefaultAuthorizer": "AWS_IAM"}),
        (
            "jwt",
            {
                "DefaultAuthorizer": "Jwt",
                "Authorizers": {
                    "Jwt": {
                        "IdentitySource": "$request.header.Authorization",
                        "JwtConfiguration": {"issuer": JWT["JwtIssuer"], "audience": [JWT["JwtAudience"]]},
                    }
                },
            },
        ),
    ],
)
def test_each_mode_is_what_sam_would_have_made_of_it(monkeypatch, mode, auth):
    """The definition that a mode deploys has the routes, integrations and authoriser of SAM's own for that mode."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    ours, theirs = deployed(mode), sams_own(auth)
    assert methods(ours) == methods(theirs)
    assert len(methods(ours)) == 4
    schemes = [body.get("components", {}).get("securitySchemes", {}) for body in (ours, theirs)]
    assert schemes[0] == schemes[1]
    assert all(bool(security) is (mode != "keys") for security, _ in methods(ours).values())


def test_the_template_offers_no_open_mode():
    """Nobody deploys an API that asks for nothing; a JWT mode without its issuer is refused before anything is made."""
    parameters = parsed()["Parameters"]
    assert parameters["AuthMode"]["AllowedValues"] == ["keys", "jwt", "iam"]
    assert parameters["AuthMode"]["Default"] == "keys"
    assert "JwtIssuer" in str(parsed()["Rules"])
    settings = parsed()["Resources"]["HttpApi"]["Properties"]["DefaultRouteSettings"]
    assert settings["ThrottlingRateLimit"] == {"Ref": "RequestsPerSecond"}
    assert parameters["RequestsPerSecond"]["MinValue"] > 0
