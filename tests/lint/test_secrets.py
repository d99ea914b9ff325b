"""The secrets that lint finds, assembled at run time so that no file contains one."""

import pytest

from garden.grammar.parser import parse
from garden.lint.linter import lint

A, D, M = "AbCdEfGhIj", "0123456789", "a1B2c3D4e5"

SECRETS = {
    "our own": "mgt.ada.0123456789ab." + (M * 5)[:43],
    "AWS": "AKIA" + "IOSFODNN7EXAMPLE",
    "GitHub": "ghp_" + (M * 4)[:36],
    "GitHub, fine-grained": "github_pat_" + M * 4,
    "GitLab": "glpat-" + M * 2,
    "Slack": "xoxb-" + D + "-" + A,
    "OpenAI": "sk-proj-" + M * 4,
    "Anthropic": "sk-ant-api03-" + M * 5,
    "Google": "AIza" + (M * 4)[:35],
    "Stripe": "sk_live_" + M * 2,
    "npm": "npm_" + (M * 4)[:36],
    "SendGrid": "SG." + M * 2 + "." + M * 3,
    "Hugging Face": "hf_" + M * 4,
    "JWT": "eyJ" + M * 2 + ".eyJ" + M * 2 + "." + M * 3,
    "bearer": "Authorization: Bearer " + M * 3,
    "address": "redis://default:" + M + "@cache.example.org:6379",
    "private key": "-----BEGIN RSA " + "PRIVATE KEY-----",
    "PGP": "-----BEGIN PGP " + "PRIVATE KEY BLOCK-----",
    "assigned": "api_key = '" + M * 2 + "'",
    "password": "Password: correct7horse9battery",
    "YAML": '"auth_token": "' + M * 2 + '"',
}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS.keys())
@pytest.mark.parametrize("around", ["{}\n", "- she wrote {} to me\n", "```\n{}\n```\n", "`{}`\n"])
def test_a_secret_is_found_once_in_any_place(secret: str, around: str) -> None:
    assert [finding.name for finding in lint(parse(around.format(secret))).findings] == ["secret"]
