"""ONNX Runtime beside other imports."""

import subprocess
import sys

LOAD = """
import importlib._bootstrap_external as loading, threading, time

read, begun = loading.FileLoader.get_data, threading.Event()

def slowly(self, path):
    if "numpy" in path and "__config__" in path:
        begun.set()
        time.sleep(0.5)
    return read(self, path)

loading.FileLoader.get_data = slowly
other = threading.Thread(target=lambda: __import__("numpy"))
other.start()
begun.wait()
from pieria.models.embedders.runtime import onnxruntime

print(onnxruntime("tiny").InferenceSession.__name__)
other.join()
import numpy

print(numpy.ones(2).sum())
"""


def test_model_loads_while_another_thread_imports_numpy() -> None:
    done = subprocess.run([sys.executable, "-c", LOAD], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout.split(), done.stderr) == (["InferenceSession", "2.0"], "")
