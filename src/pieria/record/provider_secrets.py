"""Secrets recognised by their own form: provider tokens, keys in files, passwords in addresses.

Forms that a prefix identifies belong in ``token_forms``.
"""

from __future__ import annotations

from pieria.record.secret_shapes import (
    ALNUM,
    Shape,
    has_mixed_cases,
    has_three_digits,
    is_given_password,
    is_in_address,
    is_random,
    is_random_or_hex,
    is_strict_token,
    is_token,
)

ALPHABETS = {
    "alnum": "[A-Za-z0-9]",
    "word": r"[A-Za-z0-9_-]",
    "dotted": r"[A-Za-z0-9_.-]",
    "base64": "[A-Za-z0-9+/_=-]",
    "hex": "[0-9a-fA-F]",
    "lower": "[a-z0-9]",
    "upper": "[A-Z0-9]",
    "uuid": "[0-9a-f-]",
    "random": r"[A-Za-z0-9_-]",
}
STRICT = ("random",)
"""Alphabets of forms whose prefix is short or a word. Names made of words do not count as tokens there."""
# kind | prefixes, separated by spaces | alphabet | least length | greatest length. The kind appears in a memory's
# flags and replaces a redacted secret.
FORMS = """
pieria_token     | pieria_                                                   | word   | 40 | 64
anthropic_key    | sk-ant-                                                   | word   | 20 | 400
openai_key       | sk-                                                       | random   | 20 | 400
github_token     | ghp_ gho_ ghu_ ghs_ ghr_                                  | alnum  | 20 | 255
github_token     | github_pat_                                               | word   | 22 | 255
gitlab_token     | glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt-      | dotted | 16 | 400
gitlab_token     | glagent- gloas- glsoat- glffct- glwt- GR1348941           | dotted | 16 | 400
slack_token      | xoxa- xoxb- xoxc- xoxd- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- xapp- xwfp- | dotted | 10 | 400
stripe_key       | sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_     | word   | 16 | 250
stripe_key       | whsec_                                                    | base64 | 24 | 250
google_key       | AIza                                                      | word   | 30 | 60
google_key       | GOCSPX-                                                   | word   | 20 | 60
google_key       | ya29.                                                     | dotted | 20 | 800
google_key       | 1//0                                                      | word   | 24 | 200
npm_token        | npm_                                                      | alnum  | 30 | 60
pypi_token       | pypi-                                                     | word   | 50 | 400
huggingface_token | hf_ api_org_                                             | alnum  | 30 | 60
vault_token      | hvs. hvb. hvr.                                            | word   | 20 | 400
cloud_token      | dop_v1_ doo_v1_ dor_v1_                                   | hex    | 40 | 80
cloud_token      | dapi dose dkea dsapi                                      | hex    | 30 | 34
cloud_token      | LTAI                                                      | alnum  | 16 | 26
cloud_token      | AKID                                                      | alnum  | 28 | 40
cloud_token      | HRKU-                                                     | word   | 30 | 80
cloud_token      | fm1_ fm2_ fo1_                                            | base64 | 40 | 800
cloud_token      | nfp_ nfc_ nfo_ rnd_ sbp_ napi_ koyeb_ vercel_blob_rw_ vcp_ vci_ vca_ | random | 24 | 120
cloud_token      | sb_secret_ supabase_ pscale_tkn_ pscale_pw_ pscale_oauth_ | dotted | 24 | 120
cloud_token      | pul-                                                      | hex    | 36 | 60
cloud_token      | tskey-auth- tskey-api- tskey-client- tskey-scim- tskey-webhook- | word | 16 | 120
cloud_token      | dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.            | dotted | 36 | 90
cloud_token      | ops_eyJ                                                   | base64 | 60 | 800
cloud_token      | mdb_sa_sk_ cfat_ cfut_ cfk_ xau_ scw_                     | random   | 24 | 120
cloud_token      | v1.0-                                                     | word   | 100 | 200
cloud_token      | ABSK bedrock-api-key-                                     | base64 | 90 | 400
cloud_token      | t1.9eu AQVN y0_Ag y0__                                    | dotted | 30 | 400
ci_token         | CCIPAT_ CCIPRJ_ bkua_ bkaj_ bkpt_ bkct_                   | word   | 30 | 120
ci_token         | sqp_ squ_ sqa_                                            | hex    | 36 | 60
ci_token         | sntrys_ sntryu_ sntrya_ snyk_uat. ico- rdme_ pnu_ pnb_ dbtc_ dbtu_ codecov_ | base64 | 30 | 400
ci_token         | ATBB ATCTT3x ATATT3x                                      | base64 | 24 | 300
registry_token   | dckr_pat_ dckr_oat_ jsrt_ jsrp_ jsrs_ jsrd_ packagist_ | word | 24 | 120
registry_token   | rubygems_                                                 | hex    | 40 | 60
registry_token   | CLOJARS_                                                  | alnum  | 50 | 70
registry_token   | AKCp cmVmdGtu                                             | alnum  | 50 | 90
registry_token   | oy2                                                       | lower  | 43 | 43
registry_token   | cio                                                       | alnum  | 32 | 32
chat_token       | syt_ mattermost_ tfp_ vk1.a.                              | dotted | 24 | 300
chat_token       | oauth:                                                    | lower  | 30 | 30
payment_token    | sq0atp- sq0csp- sq0idp- sq0cst-                           | word   | 20 | 60
payment_token    | shpat_ shpca_ shppa_ shpss_ shptka_ shpua_                | alnum  | 30 | 64
payment_token    | rzp_live_ rzp_test_ pdl_live_apikey_ pdl_sdbx_apikey_ duffel_live_ duffel_test_ | word | 14 | 120
payment_token    | access-sandbox- access-production- access-development-    | word   | 32 | 40
payment_token    | access_token$production$ access_token$sandbox$            | word   | 16 | 80
payment_token    | FLWSECK- FLWSECK_TEST- shippo_live_ shippo_test_ EZAK EZTK fio-u- APP_USR- | random | 28 | 120
model_token      | gsk_ xai- pplx- r8_ tgp_v1_ fw_ csk- jina_ pcsk_ tvly- nvapi- llx- esecret_ e2b_ | random | 24 | 200
model_token      | lsv2_pt_ lsv2_sk_ bb_live_ wandb_v1_ crsr_ psk_ fc- pa- ak_ | random | 32 | 200
model_token      | AQ.Ab                                                     | word   | 30 | 120
monitoring_token | glsa_ glc_                                                | base64 | 32 | 400
monitoring_token | NRAK- NRII- NRJS- NRRA- NRIQ- NRSP- NRBR-                 | word   | 19 | 60
monitoring_token | hcaik_ hcbik_ hcxik_ hcalk_ phx_ phs_ nrlk_ ddapi_ dd_    | alnum  | 32 | 120
monitoring_token | dt0c01. dt0s01. dt0s02. dt0s03. dt0s06. dt0s08. dt0s16.   | dotted | 60 | 120
monitoring_token | sdk- mob-                                                 | uuid   | 36 | 36
mail_token       | key-                                                      | hex    | 32 | 32
mail_token       | xkeysib- xsmtpsib-                                        | word   | 60 | 120
mail_token       | re_                                                       | random   | 24 | 60
mail_token       | mlsn.                                                     | hex    | 60 | 80
office_token     | ntn_ secret_                                              | alnum  | 40 | 60
office_token     | lin_api_ lin_oauth_ lin_wh_ figd_ figu_ figo_ CFPAT- patAT dcub_ | random | 24 | 200
office_token     | PMAK- PMAT-                                               | word   | 26 | 80
office_token     | pat-na1- pat-na2- pat-na3- pat-eu1- pat-ap1-              | word   | 32 | 40
office_token     | sk.eyJ tk.eyJ                                             | dotted | 40 | 400
office_token     | EAA                                                       | word   | 60 | 400
office_token     | sl. sl.u.                                                 | random   | 60 | 800
encryption_key   | AGE-SECRET-KEY-1 AGE-SECRET-KEY-PQ-1                      | upper  | 50 | 800
encryption_key   | xprv zprv yprv tprv                                       | alnum  | 100 | 112
"""
# A key does not begin within a word. The n of an escaped line break before it does not count as one.
_BEGIN = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"


def load_forms() -> list[tuple[str, tuple[str, ...], str, int, int, bool]]:
    """Return the rows of the table: kind, prefixes, pattern of one character, two lengths, is strict."""
    rows = []
    for line in FORMS.strip().splitlines():
        kind, prefixes, alphabet, least, most = (cell.strip() for cell in line.split("|"))
        rows.append((kind, tuple(prefixes.split()), ALPHABETS[alphabet], int(least), int(most), alphabet in STRICT))
    return rows


def _tokens(kind: str, prefixes: tuple[str, ...], character: str, least: int, most: int, strict: bool) -> Shape:
    """Return the shape for one row of the table of forms."""
    end = f"(?!{character})" if least == most else r"(?<!\.)"
    starts = "|".join(prefixes).replace(".", r"\.").replace("$", r"\$")
    judge = is_strict_token if strict else is_token

    def is_ours(value: str) -> bool:
        prefix = max((prefix for prefix in prefixes if value.startswith(prefix)), key=len)
        return judge(value[len(prefix) :])

    return Shape(kind, ", ".join(prefixes), f"{_BEGIN}(?:{starts}){character}{{{least},{most}}}{end}", is_ours)


PROVIDER_SECRETS = (
    *(_tokens(*row) for row in load_forms()),
    Shape("vault_token", "s.", _BEGIN + r"s\.(?P<secret>[A-Za-z0-9]{24})(?![A-Za-z0-9._-])", is_random),
    Shape("cloud_token", ".atlasv1", r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,100}", is_token, run=ALNUM),
    Shape(
        "ci_token",
        "AZDO, JQQJ99",
        r"(?<![A-Za-z0-9])[A-Za-z0-9]{40,60}(?:JQQJ99|AZDO)[A-Za-z0-9]{4,44}",
        is_token,
        run=ALNUM,
    ),
    Shape("chat_token", ":A", r"(?<![\d:.-])\d{8,10}:A[\w-]{33,35}(?![\w-])", run="0123456789"),
    Shape(
        "chat_token",
        "MT, MD, Mj, Mz, Mg, ND, NT, Nj, Nz, OD, OT, Ng",
        _BEGIN + r"[MNO][A-Za-z0-9_-]{22,28}\.[\w-]{6,7}\.[\w-]{27,45}",
    ),
    Shape("slack_webhook", "hooks.slack.com/", r"hooks\.slack\.com/[a-z-]{5,20}/(?P<secret>[A-Za-z0-9/]{20,100})"),
    Shape(
        "chat_webhook",
        "/api/webhooks/, /hooks/catch/, .office.com/webhook, /with/key/, chat.googleapis.com/v1/spaces/",
        r"(?:/api/webhooks/|/hooks/catch/|\.office\.com/webhook(?:b2)?/|/with/key/|chat\.googleapis\.com/v1/spaces/)"
        r"(?P<secret>[\w@/%.?&=~-]{20,600})",
        has_three_digits,
    ),
    Shape(
        "twilio_token",
        "AC",
        r"(?<![0-9A-Za-z])AC[0-9a-f]{32}[\s,:;/|\"']{1,6}(?P<secret>[0-9a-f]{32})(?![0-9A-Za-z])",
    ),
    Shape("twilio_key", "SK", _BEGIN + r"SK[0-9a-f]{32}(?![0-9A-Za-z])"),
    Shape("sendgrid_key", "SG.", _BEGIN + r"SG\.[\w-]{16,32}\.[\w-]{30,64}"),
    Shape("mail_token", "-us", _BEGIN + r"[0-9a-f]{32}-us\d{1,2}(?!\w)", run="0123456789abcdef"),
    Shape("office_token", "pat", _BEGIN + r"pat[A-Za-z0-9]{14}\.[0-9a-f]{60,64}"),
    Shape("office_token", "00D", _BEGIN + r"00D[A-Za-z0-9]{12,15}\\?![\w.]{40,200}"),
    Shape("aws_access_key", "AKIA, ASIA, ABIA, ACCA", _BEGIN + r"A(?:[KS]IA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    Shape(
        "aws_secret_key",
        "AKIA, ASIA",
        r"A[KS]IA[A-Z0-9]{16}[\s,:;/|\"']{1,5}(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        has_mixed_cases,
    ),
    Shape("azure_key", "Q~", r"(?<![\w~.-])[\w~.]{3}\dQ~[\w~.-]{28,40}", is_token, run=ALNUM + "_~.-"),
    Shape(
        "azure_key",
        "+ASt, +AMC, +ABa, ACDb",
        r"(?<![A-Za-z0-9+/-])[A-Za-z0-9+/]{42,86}={1,2}",
        has_mixed_cases,
        run=ALNUM + "+/-",
    ),
    Shape(
        "jwt",
        "eyJ",
        r"(?<![\w-])eyJ[\w-]{8,4000}\.(?:eyJ[\w-]{8,8000}\.[\w-]{8,2000}|[\w-]{0,2000}(?:\.[\w-]{8,8000}){3})",
    ),
    Shape("monitoring_token", "eyJrIjoi", r"(?<![\w-])eyJrIjoi[\w+/-]{40,400}={0,2}"),
    Shape(
        "private_key",
        "-----BEGIN",
        r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:(?!-----)[\s\S])*-----END [A-Z0-9 ]{0,80}-----|(?:(?:\s|\\[nr])*+[A-Za-z0-9+/=]{24,}+)*+)",
    ),
    Shape("private_key", "---- BEGIN SSH2", r"---- BEGIN SSH2 [A-Z ]{0,20}PRIVATE KEY ----(?:(?!----)[\s\S])*"),
    Shape("private_key", "Private-Lines:", r"Private-Lines: \d{1,3}(?P<secret>(?:\s{1,2}[A-Za-z0-9+/=]{4,80})+)"),
    Shape("private_key", "LS0tLS1CRUdJTi", r"LS0tLS1CRUdJ(?!TiBDRVJU|TiBQVUJM)[A-Za-z0-9+/]{40,}={0,2}"),
    Shape(
        "private_key", "b3BlbnNzaC1rZXktdjE", r"b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/]{40,}(?:\s[A-Za-z0-9+/]{20,})*={0,2}"
    ),
    Shape(
        "private_key",
        '"d", "k", "p", "q", "dp", "dq", "qi", "d\\", "k\\',
        r'"(?:d|k|p|q|dp|dq|qi)\\?"\s{0,3}:\s{0,3}\\?"(?P<secret>[\w-]{20,2000})(?=\\?")',
        is_random,
    ),
    Shape(
        "password_hash",
        "$2a$, $2b$, $2y$, $5$, $6$, $y$, $apr1$, $argon2",
        r"\$(?:2[aby]\$\d\d\$[./A-Za-z0-9]{40,60}|[56y]\$[\w./$=,-]{30,200}|apr1\$[\w./$]{20,60}|argon2[\w./$=,+-]{30,300})",
    ),
    Shape(
        "connection_password",
        "://",
        r"://[^\s:/@?#\"'<>]{0,100}:(?P<secret>[^\s/\"'<>]{1,200})@(?=[\w.\-\[])",
        is_in_address,
    ),
    Shape(
        "connection_password",
        "://",
        r"://(?P<secret>[\w-]{20,200})(?::|:x-oauth-basic)?@(?=[\w.\-\[])",
        is_random_or_hex,
    ),
    Shape(
        "connection_password",
        "@tcp(, @unix(",
        r"(?<![\w-])[\w-]{1,32}:(?P<secret>[^\s:@\"']{3,60})@(?:tcp|unix)\(",
        is_given_password,
        run=ALNUM + "-_:!#$%^&*()+=[]{};,.<>?/|~",
    ),
    Shape(
        "connection_password",
        ":5432:, :3306:",
        r":\d{4}:[^\s:]{1,60}:[^\s:]{1,60}:(?P<secret>[^\s:\"']{4,100})",
        is_given_password,
    ),
    Shape(
        "connection_password",
        "jdbc:oracle",
        r"jdbc:oracle:\w{2,4}:[\w$]{1,30}/(?P<secret>[^\s@/]{3,60})@",
        is_given_password,
    ),
)
