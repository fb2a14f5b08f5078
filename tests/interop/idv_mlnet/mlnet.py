"""ML.NET inside this process: the assemblies of the wheel nimbusml on the runtime of dotnetcore2.

Neither package is imported, nor runs on today's Python; their files are all that is wanted."""

import importlib.util
import json
import os
import pathlib
import platform
import subprocess
import sys
import zipfile

WHEELS = ("nimbusml==1.8.0", "dotnetcore2==3.1.23")
MADE_FOR = ("--python-version", "38", "--implementation", "cp", "--abi", "cp38",
            "--platform", "manylinux1_x86_64")
ASSEMBLIES = ("Core", "DataView", "Data", "StandardTrainers", "CpuMath")
INSTALL_S = 240


class Skip(Exception):
    """ML.NET can't be had here."""


def pip(site, *arguments):
    python = sys.executable
    if importlib.util.find_spec("pip") is None:
        python = site / "venv/bin/python"
        if not python.exists() and subprocess.run(
                [sys.executable, "-m", "venv", site / "venv"], capture_output=True).returncode != 0:
            raise Skip("there is no pip")
    command = [python, "-m", "pip", *map(str, arguments), "-q", "--no-input",
               "--disable-pip-version-check", "--only-binary=:all:"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S)
    except subprocess.TimeoutExpired:
        raise Skip("ML.NET's wheels took too long to come") from None
    if done.returncode != 0:
        raise Skip("ML.NET's wheels cannot be had: " + (done.stderr.strip().splitlines() or ["?"])[-1])


def wanted(name):
    """Of a wheel; its other programs take half a gigabyte."""
    if name.startswith("dotnetcore2/bin/"):
        return True
    file = name.rpartition("/")[2]
    return name.startswith("nimbusml/internal/libs/") and \
        (file.startswith(("Microsoft.ML.", "System.", "Newtonsoft.")) or "CpuMathNative" in file)


def install(site):
    """Puts the wheels' files into a folder, once."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        raise Skip("the wheels are for Linux on x86-64")
    if (site / "complete").exists():
        return
    wheels = site / "wheels"
    pip(site, "download", "--no-deps", *MADE_FOR, "-d", wheels, *WHEELS)
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site, filter(wanted, archive.namelist()))
        wheel.unlink()
    pip(site, "install", "--target", site / "python", "pythonnet>=3", "clr-loader")
    (site / "complete").touch()


def start(site):
    """Loads the runtime; returns the namespace Microsoft.ML. Raises Skip."""
    install(site)
    os.environ["DOTNET_SYSTEM_GLOBALIZATION_INVARIANT"] = "1"
    config = site / "mlnet.runtimeconfig.json"
    config.write_text(json.dumps({"runtimeOptions": {
        "tfm": "netcoreapp3.1",
        "framework": {"name": "Microsoft.NETCore.App", "version": "3.1.0"},
        "configProperties": {"System.Globalization.Invariant": True}}}))
    sys.path.insert(0, str(site / "python"))
    import clr_loader
    import pythonnet
    pythonnet.set_runtime(clr_loader.get_coreclr(runtime_config=str(config),
                                                 dotnet_root=str(site / "dotnetcore2/bin")))
    import clr
    for name in ASSEMBLIES:
        clr.AddReference(str(site / f"nimbusml/internal/libs/Microsoft.ML.{name}.dll"))
    import Microsoft.ML
    return Microsoft.ML


class MlNet:
    """Loads and saves files, and looks at views."""

    def __init__(self, site):
        self.ml = start(pathlib.Path(site))
        self.context = self.ml.MLContext(1)

    def load(self, path):
        return self.ml.BinaryLoaderSaverCatalog.LoadFromBinary(self.context.Data, str(path))

    def save(self, view, path):
        from System.IO import File
        stream = File.Create(str(path))
        self.ml.BinaryLoaderSaverCatalog.SaveAsBinary(self.context.Data, view, stream, False)
        stream.Close()

    @staticmethod
    def types(view):
        """The types of the columns that are not hidden, by name."""
        return {column.Name: str(column.Type) for column in view.Schema if not column.IsHidden}

    def cells(self, view, name):
        """The cells of a column; a vector is a tuple of all its slots."""
        column = view.Schema[name]
        raw, read = column.Type.RawType, self.ml.Data.ColumnCursorExtensions.GetColumn
        return [plain(value) for value in read[raw](view, name)]

    def annotation(self, view, name, kind):
        """The vector that an annotation of a column holds."""
        import System
        annotations = view.Schema[name].Annotations
        raw = annotations.Schema[kind].Type.RawType
        place = System.Array[System.Object]([kind, None])
        annotations.GetType().GetMethod("GetValue").MakeGenericMethod(raw).Invoke(annotations, place)
        return plain(place[1])

    def fit(self, view, label, features):
        """Trains a classifier; raises what ML.NET raises."""
        trainers = self.context.MulticlassClassification.Trainers
        trainer = self.ml.StandardTrainersCatalog.SdcaMaximumEntropy(trainers, label, features)
        return trainer.Fit(view)


def plain(value):
    """A cell as Python has it; times as ticks, a date with zone and a row identifier as pairs."""
    kind = type(value).__name__
    if kind.startswith("VBuffer"):
        return tuple(plain(item) for item in value.DenseValues())
    if kind.startswith("ReadOnlyMemory"):
        return str(value)
    if kind in ("TimeSpan", "DateTime"):
        return int(value.Ticks)
    if kind == "DateTimeOffset":
        return int(value.Ticks), round(value.Offset.TotalMinutes)
    if kind == "DataViewRowId":
        return int(value.Low), int(value.High)
    return value
