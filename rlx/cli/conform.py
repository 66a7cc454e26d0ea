"""`rlx conform`: the claims of backends, held against what they do."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rlx.cli import options, output
from rlx.cli.conform_report import details, findings, table, to_json
from rlx.errors import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlx.conformance.conform import Result
    from rlx.conformance.measure import Progress


@click.command("conform", short_help="Hold the claims of backends against what they do.")
@click.option("--backend", "backends", multiple=True, metavar="ID", help="Only this backend.")
@click.option("--op", "operations", multiple=True, metavar="NAME", help="Only this operation.")
@click.option("--check", is_flag=True, help="Compare with the committed evidence as well.")
@click.option("--write", is_flag=True, help="Claim what was measured: write the coverage.")
@click.option("--user", is_flag=True, help="With --write: into your own configuration.")
@click.option("--resume", is_flag=True, help="With --write: measured, but writing had failed.")
@click.option("--report", is_flag=True, help="Draw the committed evidence, and run nothing.")
@click.option(
    "--sample", type=options.Whole(min=1), metavar="N", help="Only N operations, drawn by --seed."
)
@click.option("--seed", type=int, default=0, show_default=True, help="What --sample draws by.")
@click.option(
    "--jobs",
    type=options.Whole(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Child processes for each backend.",
)
@click.option("-v", "--verbose", is_flag=True, help="List every finding.")
@options.config
@options.as_json
def command(
    backends: tuple[str, ...],
    operations: tuple[str, ...],
    check: bool,
    write: bool,
    user: bool,
    resume: bool,
    report: bool,
    sample: int | None,
    seed: int,
    jobs: int,
    verbose: bool,
    config: tuple[str, ...],
    as_json: bool,
    as_format: str,
) -> int:
    """Run ONNX's suite and variants of its cases, and hold every claim against the outcome.

    Each backend runs in child processes of its own: a crash or a hang is a verdict, and ends
    nothing else. Without --backend, all that can work here are held to their claims.

    \b
    rlx conform                            every backend that can work here
    rlx conform --backend numpy --op Add   one operation of one backend
    rlx conform --check --sample 10        ten operations, against the committed evidence
    rlx conform --backend mine --write     measure, and claim what was measured
    rlx conform --report                   a page and a picture of the committed evidence
    """
    _sensible(write, check, report, operations or sample, user=user, resume=resume)
    if report:
        return _reported(check)
    from rlx.cli.progress import bar
    from rlx.conformance import evidence
    from rlx.conformance.conform import conform, drawn

    operations = _known(operations, config)
    names = backends or tuple(_here(config))
    if sample is not None:
        operations = drawn(names, operations, sample, seed, config)
    with bar() as progress:
        if write:
            results = _written(names, progress, user=user, resume=resume, config=config, jobs=jobs)
        else:
            results = conform(
                names,
                progress,
                operations=operations,
                config=config,
                jobs=jobs,
                keep=_cache("trials"),
            )
    changed = _against_evidence(results, whole=not operations) if check else {}
    if check and operations:
        kept = [(one, evidence.read(one.registration.id)) for one in results]
        results = [one if said is None else evidence.settled(one, said) for one, said in kept]
    failed = any(map(findings, results)) or any(changed.values())
    if as_json or as_format == "json":
        output.dump({"ok": not failed, "backends": to_json(results, changed)})
    else:
        lines = [*table(results), *details(results, verbose)]
        lines += [f"{name}: {line}" for name, found in changed.items() for line in found]
        output.text(lines)
    return int(failed)


def _sensible(
    write: bool, check: bool, report: bool, partly: Any, *, user: bool, resume: bool
) -> None:
    """Refuse options that contradict each other."""
    if write and partly:
        raise click.UsageError(
            "--write measures every operation. Fix: leave --op and --sample out."
        )
    if write and (check or report):
        raise click.UsageError("--write does not go with --check or --report. Fix: run one first.")
    if user and not write:
        raise click.UsageError("--user says where --write writes. Fix: add --write.")
    if resume and not write:
        raise click.UsageError("--resume goes on with --write. Fix: add --write.")
    if report and partly:
        raise click.UsageError("--report runs nothing. Fix: leave --op and --sample out.")


def _known(operations: Sequence[str], config: tuple[str, ...]) -> tuple[str, ...]:
    """The operations by their canonical names; an unknown one would pass, since nothing is run."""
    if not operations:
        return ()
    from rlx.spelling import nearest

    vocabulary = options.registry(config).vocabulary
    for name in operations:
        if vocabulary.get(name) is None:
            near = nearest(name, vocabulary.names)
            fix = f"did you mean {near!r}?" if near else "name it as coverage does, such as Add."
            raise click.UsageError(f"no operation is called {printable(name)!r}. Fix: {fix}")
    return tuple(map(vocabulary.canonical, operations))


def _written(
    names: Sequence[str],
    progress: Progress,
    *,
    user: bool,
    resume: bool,
    config: Sequence[str],
    jobs: int,
) -> list[Result]:
    """Measure, or take what was measured; then write claims and evidence, and draw the page."""
    from rlx.conformance import conform, evidence, writing
    from rlx.conformance.measured import until_written
    from rlx.conformance.report import write_page

    holding, settle = _cache("measured"), partial(_settle, user)
    with until_written(holding, names, _say, resume=resume):
        if resume:
            results = conform.resume(
                names, progress, config=config, jobs=jobs, settle=settle, holding=holding
            )
        else:
            results = conform.conform(
                names,
                progress,
                config=config,
                jobs=jobs,
                settle=settle,
                keep=_cache("trials"),
                holding=holding,
            )
        packaged = [] if user else [one for one in results if writing.packaged_place(one)]
        for one in packaged:
            evidence.write(one)
        if packaged:
            write_page()
    return results


def _say(line: str) -> None:
    output.text(line, err=True)


def _settle(user: bool, results: Sequence[Result]) -> None:
    """Write each backend's coverage where it is in force from now on."""
    from rlx.conformance import writing

    for one in results:
        packaged = None if user else writing.packaged_place(one)
        if packaged is None:
            output.text(f"wrote {writing.write_user(one)}", err=True)
        else:
            writing.write_packaged(one, packaged)
            output.text(f"wrote {packaged}", err=True)


def _against_evidence(results: Sequence[Result], *, whole: bool) -> dict[str, list[str]]:
    """By backend, in what the run differs from the committed evidence."""
    from rlx.conformance import evidence

    found = {}
    for one in results:
        name = one.registration.id
        committed = evidence.read(name)
        if committed is None:
            found[name] = [f"no evidence is committed. Fix: rlx conform --backend {name} --write"]
            continue
        now = evidence.of(one)
        found[name] = list(evidence.differences(committed, now, whole=whole))
        if found[name] and committed.engine != now.engine:
            found[name].append(f"the evidence was taken with {committed.engine}, not {now.engine}")
    return found


def _reported(check: bool) -> int:
    """Write the page and the picture; or say whether the page is what the evidence says."""
    from rlx.conformance.report import stale, write

    if not check:
        output.text([f"wrote {path}" for path in write()])
        return 0
    old = stale()
    fix = "Fix: run `rlx conform --report`."
    for path in old:
        output.text(f"{path} is not what the evidence says. {fix}", err=True)
    return int(bool(old))


def _cache(name: str) -> Path:
    """Where something is kept between runs."""
    from rlx import settings

    return settings.cache_folder() / name


def _here(config: Sequence[str]) -> list[str]:
    """The backends that can work here, in order; the oracle can't be held against itself."""
    from rlx.session.selection import probed

    registry = options.registry(tuple(config))
    return [
        one.id
        for one in registry.registrations
        if one.enabled
        and one.dispatches
        and not one.reference_oracle
        and probed(registry, one, 0).reason is None
    ]
