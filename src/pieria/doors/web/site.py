"""The site: its pages, their shell and the sign-in, as routes of the server and as an interface of its own.

Access, the shell and errors are handled here for all pages; a page only decides its content.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request, cookie_parser
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Scope

from pieria.doors.http.callers import Caller, Door
from pieria.doors.http.failures import Refused, for_callers, headers_of, status_of
from pieria.doors.http.limits import Rate
from pieria.doors.http.routes import caller_of, check_scope
from pieria.doors.http.schemas import segment
from pieria.doors.http.service import Service
from pieria.doors.web import html as rendering
from pieria.doors.web import live as following
from pieria.doors.web import zones
from pieria.doors.web.assets import REFERRER, policy, sent
from pieria.doors.web.entries import CHOICES, LASTS, LOOK, Entries, cookie_name, preferred
from pieria.doors.web.forms import SEAL, arguments, form_of
from pieria.doors.web.page import BANKS, Answer, Asked, Begun, Moved, Page, Sent, Shown, View, path_of
from pieria.doors.web.pages import PAGES
from pieria.doors.web.tasks import Tasks
from pieria.doors.web.witness import Witness
from pieria.doors.web.zones import ZONE, Zone
from pieria.errors import AccessError, InputError, NotFoundError, PieriaError, StorageError, UnknownError
from pieria.record.banks import check_bank_name, same_bank
from pieria.toolsets import Access
from pieria.toolsets.validation import validated

log = logging.getLogger(__name__)

SIGN_IN, SIGN_OUT, PREFERENCES, ZONES, STATIC = "/sign-in", "/sign-out", "/preferences", "/zone", "/static"
OPEN = (SIGN_IN, SIGN_OUT, PREFERENCES, ZONES)
"""Paths open to callers who are not signed in, besides styles and scripts."""
INTERFACE = ("/v1", "/mcp", "/health", "/metrics")
"""Paths for programs."""
YEAR = 365 * 86_400
Endpoint = Callable[[Request], Awaitable[Response]]


class Site:
    """The interface for people. `strangers` limits wrong tokens."""

    def __init__(self, service: Service, door: Door, strangers: Rate, pages: Sequence[Page] = PAGES) -> None:
        self.pages = tuple(pages)
        self.entries = Entries(door)
        self.tasks = Tasks(service.banks.calls)
        self.witness = Witness()
        self._service = service
        self._door = door
        self._strangers = strangers
        self._templates = rendering.shipped()
        self.assets = self._templates.assets
        self._zone = zones.of_machine(service.workspace.resolved.environ)

    # --- as a face of the server

    def owns(self, scope: Scope) -> bool:
        """Return whether the site answers this path: its own paths, and any other page that a browser loads."""
        path = scope["path"]
        if any(path == own or path.startswith(f"{own}/") for own in (BANKS, STATIC, *OPEN)):
            return True
        is_interface = any(path == other or path.startswith(f"{other}/") for other in INTERFACE)
        return not is_interface and "text/html" in Headers(scope=scope).get("accept", "")

    def is_open(self, scope: Scope) -> bool:
        return scope["path"] in OPEN or scope["path"].startswith(f"{STATIC}/")

    def admit(self, scope: Scope) -> Caller:
        return self.entries.admit(_secret(scope))

    def refusal(self, scope: Scope, error: PieriaError, status: int | None, headers: Mapping[str, str]) -> Response:
        """Return the error as a response. A caller who must sign in is sent to that page, and back afterwards."""
        code = status or status_of(error)
        if code != 401:
            return self._failed(Request(scope), error, code, headers)
        request = Request(scope)
        if _is_part(request):
            back = _own_path(_path_in(request.headers.get("hx-current-url", "")))
            return Response(status_code=401, headers={"HX-Redirect": f"{SIGN_IN}?{urlencode({'next': back})}"})
        asked = {"next": _here(request)} if request.method in ("GET", "HEAD") else {}
        return RedirectResponse(f"{SIGN_IN}?{urlencode(asked)}", 303)

    # --- routes

    def routes(self) -> list[Route]:
        by_path: dict[str, dict[str, Endpoint]] = {
            SIGN_IN: {"GET": self._sign_in, "POST": self._signing_in},
            SIGN_OUT: {"POST": self._signing_out},
            PREFERENCES: {"POST": self._preferring},
            ZONES: {"GET": self._zones, "POST": self._choosing},
            f"{STATIC}/{{mark}}/{{name:path}}": {"GET": self.assets.answer},
            f"{BANKS}/{{bank}}": {"GET": self._bank},
            f"{BANKS}/{{bank}}/events": {"GET": self._events},
        }
        for page in (*self.pages, following.PAGE):
            for view in page.views:
                by_path.setdefault(f"{BANKS}/{{bank}}/{view.path}", {})[view.method] = partial(self._view, page, view)
        return [Route(path, self._answering(methods), methods=[*methods]) for path, methods in by_path.items()]

    def _answering(self, methods: Mapping[str, Endpoint]) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            try:
                response = await methods["GET" if request.method == "HEAD" else request.method](request)
            except Refused as refused:
                response = self._failed(request, refused.error, refused.status, refused.headers)
            except PieriaError as error:
                response = self._failed(request, error, status_of(error), {})
            except Exception as problem:
                # The page carries no traceback; the log does.
                log.exception("%s %s failed unexpectedly", request.method, request.scope["route"].path)
                unknown = UnknownError(type(problem).__name__, hint="See the server's log for details.")
                response = self._failed(request, unknown, status_of(unknown), {})
            return response

        return endpoint

    # --- pages

    async def home(self, request: Request) -> Response:
        """Redirect to the bank of the settings, or to the first that the caller reaches."""
        caller = caller_of(request)
        names = await self._service.call(self._service.names, caller)
        usual = self._service.workspace.resolved.settings.bank
        if not names:
            first = next(filter(caller.covers, (usual, *caller.opened)), None)
            begins = first if caller.access > Access.read else None
            return self._page(request, None, None, Shown("welcome.html"), {"begins": begins})
        return RedirectResponse(path_of(usual if usual in names else names[0]), 303)

    async def _bank(self, request: Request) -> Response:
        return RedirectResponse(path_of(segment(request, "bank"), self.pages[0].name), 303)

    async def _view(self, page: Page, view: View, request: Request) -> Response:
        stale: AccessError | None = None
        if view.method == "GET":
            fields = request.query_params.multi_items()
        else:
            fields = await form_of(request)
            try:
                self._check_seal(request, fields)
            except AccessError as error:
                # The browser confirms that our page sent the form: it was made before the server restarted.
                if view.again is None or "origin" not in request.headers:
                    raise
                stale = error
            fields = _without(fields, SEAL)
        given = arguments(_without(fields, ZONE), view.takes)
        zone = self._zone_of(request, view, fields, given)
        return await self._service.call(self._answered, page, view, request, given, zone, stale)

    def _zone_of(self, request: Request, view: View, fields: list[tuple[str, str]], given: Mapping[str, Any]) -> Zone:
        """Return the zone: the one sent with days, or the page's zone for a part, or the reader's."""
        told = arguments([field for field in fields if field[0] == ZONE], {}).get(ZONE)
        if told is not None and view.days & given.keys():
            return zones.named(told)
        of_page = zones.known(request.headers.get(zones.HEADER, "")) if _is_part(request) else None
        return of_page or self._reader(request)

    def _reader(self, request: Request) -> Zone:
        return zones.of_reader(_cookies(request.scope), self._zone)

    def _answered(
        self,
        page: Page,
        view: View,
        request: Request,
        given: Mapping[str, Any],
        zone: Zone,
        stale: AccessError | None,
    ) -> Response:
        began = time.perf_counter()
        caller = caller_of(request)
        host = self._service.host(caller, segment(request, "bank")).having(begins=view.begins, via=caller.via)
        host.allow(view.access)
        asked = Asked(host, caller, given, self.tasks, self._service.registry, self.witness, self._door, zone)
        try:
            if stale is not None:
                raise stale
            checked = _checked(view, given, caller)
            asked = replace(asked, given=checked, moments=view.moments(checked, zone))
            # Read the number before the page is built, so that no later change is missed.
            head = _greeted(asked) if page in self.pages and not _is_part(request) else None
            with self._service.banks.calls.one():
                response = self._response(request, page, asked, view.answer(asked), head)
        except PieriaError as error:
            if view.again is None:
                raise
            form = view.again(asked)
            form = replace(form, status=status_of(error), values={**form.values, "error": for_callers(error)})
            response = self._response(request, page, asked, form, None)
            response.headers.update(headers_of(error))
        response.headers["Server-Timing"] = f"page;dur={1000 * (time.perf_counter() - began):.1f}"
        return response

    def _response(self, request: Request, page: Page, asked: Asked, answer: Answer, head: int | None) -> Response:
        match answer:
            case Moved(to):
                return _gone_to(request, to)
            case Begun(task):
                return _gone_to(request, path_of(task.bank, following.PAGE.name, id=task.id))
            case Sent(body, kind, name):
                headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"} if name else {}
                if isinstance(body, bytes):
                    return Response(body, media_type=kind, headers=headers)
                return StreamingResponse(body, media_type=kind, headers=headers)
            case Shown():
                values = {"asked": asked, "zone": asked.zone, "follows": head, **answer.values}
                return self._page(request, page, asked.host.bank_name, answer, values)

    def _page(
        self, request: Request, page: Page | None, bank: str | None, shown: Shown, values: Mapping[str, Any]
    ) -> Response:
        visitor: Caller | None = request.scope.get("state", {}).get("caller")
        reader = self._reader(request)
        around = {
            "page": page,
            "pages": self.pages,
            "bank_name": bank,
            "visitor": visitor,
            # Refused callers get no form token: they may have asked under a false host name.
            "seal": None if visitor is None else self.entries.seal(_secret(request.scope)),
            "needs_token": self.entries.needs_token,
            **preferred(_cookies(request.scope)),
            "looks": LOOK.values,
            "here": _to_load_again(request),
            "zone": reader,
            "reader": reader,
            "own_days": _here(request, ZONE) if request.method != "POST" else None,
            "is_told_zone": zones.is_told(_cookies(request.scope)),
            "follows": None,
            "error": None,
            **values,
        }
        headers = {
            "Vary": "HX-Request",
            "Content-Security-Policy": policy(page.scripts if page else ()),
            "Referrer-Policy": REFERRER,
        }
        if shown.part is not None and _is_part(request):
            made = self._templates.part(shown.template, shown.part, around)
        else:
            # If banks cannot be reached, the error page must not list them.
            asks = bank is not None and not isinstance(values.get("error"), StorageError)
            names = self._service.names(visitor) if asks and visitor else []
            around["bank_names"] = names
            # Names compare without case; show the bank's own spelling.
            around["bank_name"] = next((name for name in names if same_bank(name) == same_bank(bank or "")), bank)
            made = self._templates.whole(shown.template, around)
        # Lone surrogates become a replacement character, so that every client can decode the page.
        return sent(request, made.encode("utf-8", "replace"), "text/html", headers, shown.status)

    def _failed(self, request: Request, error: PieriaError, status: int, headers: Mapping[str, str]) -> Response:
        """Return a page that says what was expected, what came and what to do. A part shows only that."""
        visitor: Caller | None = request.scope.get("state", {}).get("caller")
        may_begin = visitor is not None and visitor.access > Access.read
        is_missing = isinstance(error, NotFoundError) and error.resource == "bank"
        shown = Shown("failed.html", part="error", status=status)
        values = {
            "error": for_callers(error),
            "status": status,
            "begins": is_missing and may_begin,
            "back": _tried_at(request),
        }
        response = self._page(request, None, _bank_of(request), shown, values)
        told = {name: value for name, value in headers_of(error).items() if name != "WWW-Authenticate"}
        response.headers.update({**told, **headers})
        return response

    def nowhere(self, request: Request, status: int, headers: Mapping[str, str]) -> Response:
        if status == 405:
            return self._failed(
                request, InputError("method", headers.get("Allow", "another"), request.method), 405, headers
            )
        return self._failed(request, NotFoundError("page", request.scope["path"]), status, headers)

    # --- what happens

    async def _events(self, request: Request) -> Response:
        """Return the events of `/v1/events`, for signed-in callers."""
        return await following.events(self._service, request, lambda: self._still(request.scope))

    def _still(self, scope: Scope) -> bool:
        try:
            self.entries.admit(_secret(scope))
        except PieriaError:
            return False
        return True

    # --- coming and going

    async def _sign_in(self, request: Request) -> Response:
        to = _own_path(request.query_params.get("next"))
        if self._still(request.scope):
            return RedirectResponse(to, 303)
        # After a link from another site, the browser withheld the cookie.
        is_led = request.headers.get("sec-fetch-site") == "cross-site"
        return self._page(request, None, None, Shown("sign-in.html"), {"next": to, "is_led": is_led})

    async def _signing_in(self, request: Request) -> Response:
        fields = dict(await self._sealed(request, by_anybody=True))
        to = _own_path(fields.get("next"))
        try:
            secret, _ = self.entries.enter(fields.get("token", ""))
        except AccessError as error:
            self._strangers.take((request.scope.get("client") or ("",))[0])
            shown = Shown("sign-in.html", status=status_of(error))
            return self._page(request, None, None, shown, {"next": to, "error": error, "is_led": False})
        self.entries.leave(_secret(request.scope))
        response = RedirectResponse(to, 303)
        is_secure = urlsplit(request.headers.get("origin", "")).scheme == "https"
        response.set_cookie(
            _cookie(request.scope), secret, int(LASTS), path="/", httponly=True, samesite="strict", secure=is_secure
        )
        return response

    async def _signing_out(self, request: Request) -> Response:
        await self._sealed(request)
        self.entries.leave(_secret(request.scope))
        response = RedirectResponse(SIGN_IN if self.entries.needs_token else "/", 303)
        response.delete_cookie(_cookie(request.scope), path="/", httponly=True, samesite="strict")
        return response

    async def _preferring(self, request: Request) -> Response:
        fields = dict(await self._sealed(request, by_anybody=True))
        response = RedirectResponse(_own_path(fields.get("next")), 303)
        for each in CHOICES:
            if each.name in fields:
                kept = each.of(fields[each.name])
                response.set_cookie(each.cookie, kept, YEAR, path="/", httponly=True, samesite="strict")
        return response

    async def _zones(self, request: Request) -> Response:
        values = {
            "next": _own_path(request.query_params.get("next")),
            "chosen": zones.chosen(_cookies(request.scope)),
            "without": zones.of_browser(_cookies(request.scope)) or self._zone,
            "names": await self._service.call(zones.names),
            "no_rules": zones.NO_RULES,
        }
        return self._page(request, None, None, Shown("zone.html"), values)

    async def _choosing(self, request: Request) -> Response:
        fields = dict(await self._sealed(request, by_anybody=True))
        response = RedirectResponse(_own_path(fields.get("next")), 303)
        if fields.get(ZONE):
            name = zones.named(fields[ZONE]).name
            response.set_cookie(zones.CHOSEN, name, YEAR, path="/", httponly=True, samesite="lax")
        else:
            response.delete_cookie(zones.CHOSEN, path="/", httponly=True, samesite="lax")
        return response

    async def _sealed(self, request: Request, *, by_anybody: bool = False) -> list[tuple[str, str]]:
        """Return the fields of a form that carries our token."""
        fields = await form_of(request)
        self._check_seal(request, fields, by_anybody=by_anybody)
        return _without(fields, SEAL)

    def _check_seal(self, request: Request, fields: list[tuple[str, str]], *, by_anybody: bool = False) -> None:
        """Raise `AccessError` for a form from another site.

        After a link from another site, a browser withholds the cookie once and sends it with the next form. So
        `by_anybody` also accepts forms made without a cookie.
        """
        seals = [value for name, value in fields if name == SEAL]
        secrets = (_secret(request.scope), None) if by_anybody else (_secret(request.scope),)
        if len(seals) != 1 or not any(self.entries.is_sealed(secret, seals[0]) for secret in secrets):
            hint = "The server restarted after the page was loaded. Load the page again, then send the form again."
            raise AccessError("foreign_origin", hint=hint)


def _without(fields: list[tuple[str, str]], left: str) -> list[tuple[str, str]]:
    return [(name, value) for name, value in fields if name != left]


def _tried_at(request: Request) -> str | None:
    """Return the path of our page whose form failed."""
    came = urlsplit(request.headers.get("referer", ""))
    is_ours = came.netloc != "" and came.netloc == request.headers.get("host")
    if request.method != "POST" or not is_ours:
        return None
    return _own_path(came.path + (f"?{came.query}" if came.query else ""))


def _bank_of(request: Request) -> str | None:
    """Return the requested bank, or None if its name is invalid; the check of the arguments reports that."""
    if "bank" not in request.path_params:
        return None
    try:
        return check_bank_name(segment(request, "bank"))
    except (InputError, Refused):
        return None


def _checked(view: View, given: Mapping[str, Any], caller: Caller) -> Mapping[str, Any]:
    checked = validated(view.tool, given, view.line)
    check_scope(checked, caller)
    if checked.get("session"):
        checked = {**checked, "session": caller.own(checked["session"], "session")}
    return checked


def _cookie(scope: Scope) -> str:
    return cookie_name((scope.get("server") or (None, None))[1])


def _cookies(scope: Scope) -> Mapping[str, str]:
    return cookie_parser(Headers(scope=scope).get("cookie", ""))


def _secret(scope: Scope) -> str | None:
    return _cookies(scope).get(_cookie(scope))


def _is_part(request: Request) -> bool:
    """Return whether a part of the page is requested, not a whole page."""
    headers = request.headers
    return headers.get("hx-request") == "true" and headers.get("hx-request-type") != "full"


def _gone_to(request: Request, to: str) -> Response:
    if _is_part(request):
        return Response(status_code=204, headers={"HX-Redirect": to})
    return RedirectResponse(to, 303)


def _here(request: Request, left: str = "") -> str:
    """Return the requested path with its query; one field may be left out."""
    query = request.url.query
    if left:
        query = urlencode(_without(request.query_params.multi_items(), left), errors="replace")
    return request.url.path + (f"?{query}" if query else "")


def _to_load_again(request: Request) -> str:
    """Return the address to reload. The result of a form has none, so this is the form's own address."""
    return _here(request) if request.method in ("GET", "HEAD") else _tried_at(request) or "/"


def _path_in(url: str) -> str | None:
    """Return the part of a URL after the host."""
    try:
        return urlsplit(url)._replace(scheme="", netloc="").geturl()
    except ValueError:
        return None


def _greeted(asked: Asked) -> int | None:
    """Return the number of the bank's newest change, or None if the bank does not exist. Prepare the bank for
    questions.
    """
    if not asked.host.banks.has(asked.bank_name):
        return None
    asked.bank.expect_questions()
    newest = asked.bank.changes(last=1)
    return newest[0].seq if newest else 0


def _own_path(path: str | None) -> str:
    """Return the path if it belongs to this site, and otherwise `/`."""
    if not path or not path.startswith("/") or path.startswith("//") or "\\" in path or not path.isprintable():
        return "/"
    return path
