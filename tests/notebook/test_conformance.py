"""The public conformance suite for Jupyter kernels, run on the Octo kernel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import jupyter_kernel_test  # type: ignore[import-untyped]
import pytest
from jupyter_client.kernelspec import KernelSpecManager

from octo_lab.notebook.kernelspec import install_kernelspec

pytestmark = pytest.mark.kernel


@pytest.fixture(scope="module", autouse=True)
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Jupyter finds the kernelspec where the suite's manager looks."""
    folder = tmp_path_factory.mktemp("prefix")
    path = install_kernelspec(prefix=str(folder))
    before = KernelSpecManager.kernel_dirs
    KernelSpecManager.kernel_dirs.default_args = ([str(path.parent)],)
    yield path
    KernelSpecManager.kernel_dirs = before


class TestOctoKernel(jupyter_kernel_test.KernelTests):  # type: ignore[misc]
    kernel_name = "octo"
    language_name = "python"
    file_extension = ".py"
    code_hello_world = "print('hello, world')"
    code_stderr = "import sys; print('test', file=sys.stderr)"
    completion_samples = (
        {"text": "zi", "matches": {"zip"}},
        {"text": "%octo --mod", "matches": {"--model"}},
    )
    complete_code_samples = (
        "1",
        "print('hello, world')",
        "%octo what is {this",
        "def f(x): return x\n\n",
    )
    incomplete_code_samples = ("print('''hello", "def f(x):\n", "%%octo")
    invalid_code_samples = ("import = 7q",)
    code_page_something = "%octo?"
    code_generate_error = "raise ValueError"
    code_execute_result = (
        {"code": "1+2+3", "result": "6"},
        {"code": "[n*n for n in range(1, 4)]", "result": "[1, 4, 9]"},
    )
    code_display_data = (
        {
            "code": "from IPython.display import HTML, display; display(HTML('<b>t</b>'))",
            "mime": "text/html",
        },
    )
    code_history_pattern = "1?2*"
    supported_history_operations = (
        "tail",
        "range",
        "search",
    )
    code_inspect_sample = "zip"
    code_clear_output = "from IPython.display import clear_output; clear_output()"
