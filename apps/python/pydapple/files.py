"""Files as a whole: open, check, repair, index."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from . import _core, guests, remote
from .arguments import told
from .attributes import write_options
from .errors import InvalidArgumentError, TypeMismatchError, shown
from .frame import Frame
from .identity import file_name, open_options, stamp_of
from .matrix import Matrix
from .reports import (
    Check,
    FormatInfo,
    Path,
    Progress,
    RepairReport,
    VerifyReport,
    WriteSummary,
    reporting,
)

# Endings that tell of formats which nothing here writes.
_OF_OTHERS = frozenset(
    """
    .7z .avro .bz2 .dta .feather .gz .h5ad .hdf .html .ipc .json .jsonl .loom .lz4 .mat .n5 .nc
    .ndjson .npz .orc .parq .parquet .pickle .pkl .pt .pth .rda .rds .safetensors .sas7bdat .sav
    .sqlite .tar .tif .tiff .tsv .txt .xls .xlsx .xml .xz .zarr .zip .zst
    """.split()  # noqa: SIM905
)


@told
def open(
    path: Path,
    *,
    format: str | None = None,
    array: str | None = None,
    check: Check = "never",
    guard: bool = False,
    read_ahead: bool = True,
    threads: int | None = 1,
    csv: Mapping[str, Any] | None = None,
    futhark: Mapping[str, Any] | None = None,
    idv: Mapping[str, Any] | None = None,
    fs: Any = None,
    store: Any = None,
    cache: Path = "",
    temporary: Path = "",
) -> Matrix | Frame:
    """Open a file of any format that dapple reads.

    A file with an index opens in microseconds, whatever its size; without one, the headers of its
    blocks are read once.

    Args:
        path: the file, or the folder of a data set, or ``"pbmc.dds/X"`` of a member of a
            collection; or as a string its http or https address, or an
            address that fsspec knows (``"s3://bucket/key"``); or its name in `fs` or `store`. Of
            what is far away only the ranges that are needed are fetched, and one state of it is
            read, or OSError raised. Web servers list no folder: of a data set there give the
            address of a state. A collection far away is opened member by member.
        format: one of `formats()`; told from the bytes and the name if not given. Parquet and
            Arrow's files are none of them: `convert` reads those.
        array: which of several arrays in an .npz archive, or the path of a data set or group in an
            HDF5 file or a Zarr hierarchy, or the member of a collection; of a Zarr array of more
            than two dimensions with a slice: ``"temp[5,:,:]"``.
        check: when the hash of a block is compared with its bytes.
        guard: True: a file that is cut short while it is open makes reads raise OSError; without
            it, touching what is gone ends the process with SIGBUS.
        read_ahead: False: the system reads single pages and prefetches nothing, for looks at a few
            cells here and there of a file that is larger than memory; reading much of it becomes
            many times slower.
        threads: that go through a text which must be read as a whole (CSV, Matrix Market); 0: one
            for each processor.
        csv: how text is understood: ``header``, ``delimiter``; ``skip``, lines at the start that
            are no part of the table; ``comment``, what lines that are none start with; ``decimal``,
            ``","`` where numbers are written 1,5; ``missing_as_nan``; ``missing_words``, a list of
            fields such as ``"NULL"`` that are missing besides empty ones, NA, N/A and ?; and
            ``types``, a mapping from labels (``"*"``: all others) to dtypes, or to ``"boolean"``,
            ``"timestamp"``, ``"duration"``, ``"category"`` or ``"text"``.
        futhark: ``types``, ``value``, ``frame``, ``first``.
        idv: ``columns``; ``drop_unsupported``, to leave out columns that can only be shown;
            ``keep_hidden``, for columns that later ones of the same name hide, too, as
            ``NAME (hidden N)``. `note` tells what was left out.
        fs: a file system of fsspec that has the file, with its credentials.
        store: a store of obstore that has it.
        cache: a folder that keeps pieces of what is far away, up to 10 GiB, for all processes of
            this machine: of web addresses, and of objects that a file system or store has a tag
            for. A web address that was opened within the last minute is opened without a request,
            as it was then.
        temporary: the folder of the unnamed file that text is parsed into; in memory or $TMPDIR if
            not given.

    Returns:
        A `Matrix`, or a `Frame` where columns have labels and types of their own; a `Collection`
        where the path is a folder whose name ends in .dds, or one ZIP file of it, and no option but
        fs, store and cache is given. A folder of 10x Genomics (matrix.mtx, barcodes.tsv,
        features.tsv) is a `Matrix` of genes x barcodes with these names.

    Raises:
        FileNotFoundError, PermissionError, OSError: the system refused.
        NotRecognisedError: it is of no known format.
        CorruptError: its bytes break a rule of their format.
    """
    given = {
        "format": format,
        "array": array,
        "check": check,
        "guard": guard,
        "read_ahead": read_ahead,
        "threads": 1 if threads is None else threads,
        "csv": _group("csv", csv),
        "futhark": _group("futhark", futhark),
        "idv": _group("idv", idv),
        "cache": file_name(cache),
        "temporary": file_name(temporary),
    }
    defaults = {"cache": "", "check": "never", "guard": False, "read_ahead": True}
    defaults |= {"temporary": "", "threads": 1}
    options = {key: value for key, value in given.items() if value != defaults.get(key)}
    name = file_name(path)
    far_away = remote.objects_of(name, fs, store)
    if far_away is not None:
        objects, inside = far_away
        handle = _core.open_far(objects, inside, open_options(options))
        # Of a folder the file in it, so of a data set one state.
        found, reader = objects.opened[0]
        name = name if found == inside else name.rstrip("/") + found[len(inside.rstrip("/")) :]
        return remembering(handle, name, options, reader.version, {"fs": fs, "store": store})
    name = remote.local_path(name, fs)
    far = remote.is_address(name)
    member = None
    if not far:
        name, options, member = _of_member(name, options)
    if not far and holds_states(name):
        name = _core.dataset_latest(name)  # so that all who get this object see one state
    with guests.pointed_out(name, format):
        handle = _core.open(name, open_options(options), far)
    if array is not None and member is None and not far:
        _require_arrays(name, handle.format)
    made = remembering(handle, name, options, None if far else stamp_of(name), {} if far else None)
    if member is not None and isinstance(made, Matrix):
        from .collection import NamesInCollection  # which needs this module

        made._given_names = NamesInCollection(*member)
    return made


def remembering(
    handle: Any, name: str, options: dict[str, Any], stamp: Any, where: dict[str, Any] | None
) -> Matrix | Frame:
    """What was opened, which remembers where that is; None: here. At an address it has no stamp."""
    made = Matrix(handle) if isinstance(handle, _core.Matrix) else Frame(handle)
    made._remember(name, options, stamp or (0, handle._server_version), where)
    return made


def _require_arrays(name: str, format: str) -> None:
    if format in ("npz", "hdf5", "zarr"):
        return
    raise InvalidArgumentError(
        f"{name}: array= is for collections, npz, hdf5 and zarr files, and this one, of format "
        f"{format}, holds a single object"
    )


def _of_member(
    name: str, options: dict[str, Any]
) -> tuple[str, dict[str, Any], tuple[str, str] | None]:
    """File and options of what may be a member of a collection: this, and its name there."""
    array = options.get("array")
    place = _core.find_member(file_name(f"{name}/{array}") if array else name)
    if place is None:
        return name, options, None
    others = {key: value for key, value in options.items() if key != "array"}
    file, packed = os.fspath(place[0]), place[1]
    if packed:
        return file, others | {"array": packed}, (file, packed)
    folder = os.path.dirname(file)
    while not folder.endswith(".dds"):
        folder = os.path.dirname(folder)
    return file, others, (folder, os.path.relpath(os.path.splitext(file)[0], folder))


def holds_states(folder: str) -> bool:
    """Whether this is the folder of a data set."""
    if not os.path.isdir(folder):
        return False
    with os.scandir(folder) as files:
        return any(re.fullmatch(r"dataset-\d+", file.name) for file in files)


def _group(name: str, given: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise TypeMismatchError(
            f"{name} is a mapping from names of options to values, not {shown(given)}"
        )
    return dict(given)


@told
def verify(
    path: Path, payload: bool = False, *, progress: Progress = None, **options: Any
) -> VerifyReport:
    """Check a file against the rules of its format, and report every finding.

    Args:
        path: the file, or a collection; all that it holds is checked unless `array` names one.
        payload: also read every value and compare every hash.
        progress: as of `convert`.
        options: as of `open`.
    """
    with guests.pointed_out(path, options.get("format")), reporting(progress, "verify") as report:
        return VerifyReport(*_core.verify(file_name(path), payload, open_options(options), report))


@told
def repair(
    src: Path,
    dst: Path,
    *,
    progress: Progress = None,
    open_with: Mapping[str, Any] | None = None,
    **write: Any,
) -> RepairReport:
    """Write what can still be read of a damaged file into a sound one.

    Cells that are lost become absent, and are never made up. Options as of `convert`.
    """
    with guests.pointed_out(src), reporting(progress, "repair") as report:
        lost, kept, gone, meanings, written = _core.repair(
            file_name(src),
            file_name(dst),
            write_options(**write),
            open_options(dict(open_with or {})),
            report,
        )
    return RepairReport(lost, kept, gone, meanings, WriteSummary(*written))


@told
def estimate_packing(
    source: Path | Matrix | Frame, pack: str = "fast", *, threads: int | None = 1, **options: Any
) -> tuple[int, int]:
    """Bytes of a dbdf file of the whole object, plain and packed, before it is written.

    Of a large object, runs of its rows are written to temporary files and measured: then both are
    estimates.

    Args:
        source: a file of any format, or what `open` gave.
        pack: ``"fast"`` or ``"small"``, as of `write`.
        threads: as of `convert`.
        options: as of `open`.
    """
    if pack not in ("fast", "small"):
        raise InvalidArgumentError(f"pack is 'fast' or 'small', not {shown(pack)}")
    opened = source if isinstance(source, Matrix | Frame) else open(source, **options)
    plain, fast, small = _core.estimate_packing(opened, threads)
    return plain, fast if pack == "fast" else small


@told
def index(
    path: Path,
    *,
    statistics: bool = False,
    columns: bool = False,
    sync: bool = True,
    threads: int | None = 1,
    progress: Progress = None,
    **options: Any,
) -> str | None:
    """Write an index beside a file that has none of its own and must not be touched.

    Or, with ``columns=True``, a copy of a matrix by column, which makes columns as fast to read as
    rows: `Matrix.take_columns`, ``m.sparse[:, cols]``, and few columns of many rows. It is about as
    large as the file, and is used until the file changes; an open matrix looks for it once, when it
    can first use it. To write it, the file is read several times, in at most 256 MiB of memory and
    what its blocks take.

    Args:
        path: the file; of a data set its latest state is meant.
        statistics: also keep statistics of each block, for which all cells are read once.
        columns: write the copy by column, and nothing else.
        sync: of the copy: wait until it is on disk.
        threads: that read cells; 0: one for each processor.
        progress: as of `convert`.
        options: as of `open`.

    Returns:
        The path of the index, ``FILE.dpx``, or of the copy, ``FILE.dpc``; None, and nothing is
        written, where the file has all that is wanted of an index itself.

    Raises:
        UnsupportedError: `columns` of a frame, of text, or of a compressed file; without `columns`,
            a format that needs no index, such as .npy.
        StaleError: the file changes meanwhile.
        LookupError: cells that a copy would need are absent.
    """
    if columns and statistics:
        raise InvalidArgumentError("columns=True writes a copy by column, which has no statistics")
    if not (columns or sync):
        raise InvalidArgumentError("sync=False is for columns=True")
    pointed_out = guests.pointed_out(path, options.get("format"))
    if columns:
        with pointed_out, reporting(progress, "index") as report:
            return os.fspath(
                _core.copy_columns(file_name(path), open_options(options), sync, threads, report)
            )
    with pointed_out, reporting(progress, "index") as report:
        made = _core.index(file_name(path), open_options(options), statistics, threads, report)
    return None if made is None else os.fspath(made)


def is_own_name(path: Path) -> bool:
    """Whether a file of that name is a DAPHNE binary file, as far as names tell.

    False where `convert` writes it. Raises InvalidArgumentError where nothing here does.
    """
    name = file_name(path)
    remote.require_local(name)
    stem, ending = os.path.splitext(name.lower())
    if guests.of_name(path, writing=True):
        return False
    packed = ending in (".gz", ".zst")
    for one in formats():
        if (os.path.splitext(stem)[1] if packed else ending) in one.extensions and one.writes:
            return one.name == "dbdf" and not packed
    if ending in _OF_OTHERS or any(ending in one.extensions for one in formats()):
        raise InvalidArgumentError(
            f"{name} is the name of a file of another format, which is not written here; what is: "
            f"{', '.join(guests.endings_written())}"
        )
    return True


@told
def formats() -> list[FormatInfo]:
    """Every format that dapple knows."""
    return [
        FormatInfo(name, title, tuple(extensions.split()), *rest)
        for name, title, extensions, *rest in _core.formats()
    ]
