"""Patches, read as edits."""

from typing import Any

from pieria.record.patch import edits_of, fits, is_shell_patch

CASES: dict[str, list[dict[str, Any]]] = {
    "*** Begin Patch\n*** Update File: a.py\n@@ def f\n x\n-a\n-b\n+c\n@@\n-d\n+e\n+--- f\n*** End Patch\n": [
        {"file_path": "a.py", "old_string": "a\nb", "new_string": "c"},
        {"file_path": "a.py", "old_string": "d", "new_string": "e\n--- f"},
    ],
    "*** Begin Patch\n*** Add File: new.md\n+# A\n+\n+B\n*** Delete File: old.md\n*** End Patch": [
        {"file_path": "new.md", "content": "# A\n\nB"},
        {"file_path": "old.md", "deleted": True},
    ],
    "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n-a\n+b\n*** End of File\n*** End Patch": [
        {"file_path": "b.py", "moved_from": "a.py"},
        {"file_path": "b.py", "old_string": "a", "new_string": "b"},
    ],
    "diff --git a/x.py b/x.py\n--- a/x.py\t2026\n+++ b/x.py\t2026\n@@ -1 +1 @@\n-a\n+b\n"
    "--- y.py\n+++ y.py\n@@ -1 +0,0 @@\n-c\n": [
        {"file_path": "x.py", "old_string": "a", "new_string": "b"},
        {"file_path": "y.py", "old_string": "c", "new_string": ""},
    ],
    "pytest -q": [],
    "": [],
}


def test_patches_become_edits() -> None:
    assert {patch: edits_of(patch) for patch in CASES} == CASES


def test_only_a_call_of_apply_patch_is_a_patch_by_the_shell() -> None:
    body = " <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF"
    lines = {
        f"apply_patch{body}": True,
        f"cd web && apply_patch{body}": True,
        f"cat > a.txt{body}": False,
        "make": False,
    }
    assert {line: is_shell_patch(line) for line in lines} == lines


def test_an_edit_fits_a_file_that_has_its_old_lines() -> None:
    change, new = {"file_path": "a", "old_string": "x\ny", "new_string": "z"}, {"file_path": "a", "content": "z"}
    told = [fits(edit, text) for edit in (change, new) for text in ("x\n1\ny\n", "x\n", None)]
    assert told == [True, False, False, True, True, True]
