"""Sessions: what was asked for when they were made, the backends they hold, what they compile."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any, NoReturn, overload

from rlx import probe, settings
from rlx.backends.protocol import CompileOptions
from rlx.errors import (
    ExecutionError,
    SessionClosed,
    printable,
)
from rlx.registries import checked
from rlx.session import leases, logs
from rlx.session.compiling import compile_on
from rlx.session.default import default_registry
from rlx.session.routes import as_program, is_passing
from rlx.session.selection import settle, use_best

if TYPE_CHECKING:
    from types import TracebackType

    from rlx.program.graph import Graph
    from rlx.registries import Registry
    from rlx.router import Route
    from rlx.session.compiled import CompiledProgram
    from rlx.session.graphs import CompiledGraph
    from rlx.settings import Request
    from rlx.settings.asked import DeviceArgument, RequireArgument

_log = logging.getLogger("rlx")
_ROUTES_KEPT = 256


class Session:
    """Compiles programs for what was asked for; a `with` block closes it.

    It captures the scope (`rlx.use`), the environment and the registry when it is made: later
    changes do not reach it. Backends are opened when they are first needed, kept until the
    session is closed, and shared with other sessions of the process. A session may be used from
    several threads. After a fork, the child's session opens backends of its own.

    `device` is a name, an alias, `name:index`, or several in order of preference; `backend` an
    id; `require` capabilities that the backend must have. `precision` (`f32`, `f16`, `bf16`) is
    what is asked of the engine, and `precision_policy` what happens where it can't: `error`,
    `warn` or `allow`.

    Raises:
        UnknownDevice, InvalidDevice, UnknownBackend: there is no such thing.
        SettingError: an argument or a variable has a value that is not allowed.
        ConfigError: the default registry can't be loaded.
    """

    def __init__(
        self,
        device: DeviceArgument = None,
        precision: str | None = None,
        *,
        backend: str | None = None,
        registry: Registry | None = None,
        require: RequireArgument = (),
        precision_policy: str | None = None,
        kernel_dispatch: str | None = None,
    ):
        environment = settings.environment()
        logs.apply(environment)
        self._registry = default_registry() if registry is None else checked(registry)
        self._request = settings.make_request(
            self._registry,
            device=device,
            backend=backend,
            require=require,
            precision=precision,
            precision_policy=precision_policy,
            kernel_dispatch=kernel_dispatch,
            env=environment,
        )
        self._report = bool(environment.value("RLX_DISPATCH_REPORT", False))
        self._leases: dict[tuple[str, str], leases.Lease] = {}
        self._routes: dict[int, tuple[Route, int, Any]] = {}
        self._closed = False

    @property
    def registry(self) -> Registry:
        """The registry that it routes by."""
        return self._registry

    @property
    def request(self) -> Request:
        """What was asked for, by whom."""
        return self._request

    @property
    def device(self) -> str | None:
        """The devices asked for, in order and separated by commas; None: any."""
        return ",".join(map(str, self._request.devices)) or None

    @property
    def precision(self) -> str | None:
        """The precision asked for; None: that of the program."""
        return self._request.precision

    def route(self, program: Any) -> Route:
        """Where a program would run, and why; nothing is opened.

        The route says so when nothing fits: its `backend` is None then. It is kept per program,
        until a probe is refreshed.
        """
        kept = self._routes.get(id(program))
        if kept is not None and kept[1] == probe.generation():
            return kept[0]
        self._check_open()
        generation = probe.generation()
        loaded = as_program(program)
        found = settle(self._registry, loaded, self._request)
        if not is_passing(found):
            if len(self._routes) >= _ROUTES_KEPT:
                self._routes.clear()
            # The program is kept with its route, so that its id stays its own.
            self._routes[id(loaded)] = (found, generation, loaded)
        return found

    @overload
    def compile(self, program: Graph) -> CompiledGraph: ...
    @overload
    def compile(self, program: Any) -> CompiledProgram: ...
    def compile(self, program: Any) -> CompiledProgram:
        """Route a program, open the backend, and compile the program on it.

        Where an implicitly chosen backend can't be opened, or can't compile the program, the next
        one is taken, with a warning and `route.degraded`. A graph is consumed; its params are set
        on what is returned.

        Raises:
            NoBackend: no backend can run it as asked; the message has every reason.
            OpenFailed: the backend asked for by id can't be opened.
            ContractError: a backend works on another device than it promised.
            PrecisionError: it can't compute as asked, under the policy `error`.
            ExecutionError, UnsupportedFeature: the backend failed to compile it, and no other is
                left that may be taken in its place.
            ProgramError: `program` is a path or a model that can't be read.
            GraphConsumed: `program` is a graph that was compiled before.
            SessionClosed: the session was closed.
        """
        from rlx.session.graphs import compiled_of

        self._check_open()
        loaded = as_program(program)
        options = CompileOptions(
            self._request.precision, self._request.precision_policy, self._request.kernel_dispatch
        )
        route, lease, (executable, used) = use_best(
            self._registry,
            loaded,
            self._request,
            lambda route, lease: compile_on(lease, route.executed, options),
        )
        try:
            self._hold(lease)
            if self._report:
                sys.stderr.write(f"{route.dispatch_report}\n")
            _log.info("%s runs on %s (%s)", printable(loaded.name), lease.id, lease.spec)
            return compiled_of(program, loaded, route, lease, executable, used)
        except BaseException:
            executable.close()
            lease.close()
            raise

    def close(self) -> None:
        """Give back what it holds; what it compiled lives on. Calling it again does nothing.

        Raises:
            ExecutionError: a backend failed to close; all others are closed all the same.
        """
        self._closed = True
        self._routes.clear()
        held, self._leases = self._leases, {}
        failed: list[ExecutionError] = []
        for lease in tuple(held.values()):  # a compilation may be adding one
            try:
                lease.close()
            except ExecutionError as error:
                failed.append(error)
        if failed:
            for other in failed[1:]:
                failed[0].add_note(str(other))
            raise failed[0]

    def _hold(self, lease: leases.Lease) -> None:
        """Keep the backend open until the session is closed."""
        key = (lease.id, str(lease.spec))
        held = self._leases.get(key)
        if held is None or held.closed:
            own = self._leases[key] = leases.acquire(lease.registration, lease.spec)
            if self._closed:  # meanwhile, by another thread: nobody would end this lease
                own.close()
                self._check_open()

    def _check_open(self) -> None:
        if self._closed:
            raise SessionClosed(f"{self!r} is closed")

    def __enter__(self) -> Session:
        self._check_open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.close()
        except ExecutionError as failed:
            if error is None:
                raise
            _log.error("%s", failed)  # the error on its way out matters more

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{self!r} can't be pickled or copied. Fix: make a session in the process that uses it."
        )

    def __repr__(self) -> str:
        request = self._request
        on = ",".join(map(str, request.devices)) or "any device"
        of = f", backend {request.backend}" if request.backend else ""
        return f"<Session on {on}{of}, precision {request.precision or 'of the program'}>"
