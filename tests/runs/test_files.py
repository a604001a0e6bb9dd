"""Files that are written whole or not at all."""

import os
import stat

import pytest

from ludus.runs.files import BadRun, write_whole


def test_a_file_is_replaced_and_no_draft_stays(tmp_path):
    for content in ("old", "new"):
        write_whole(tmp_path / "file", lambda draft, content=content: draft.write_text(content))
    assert (tmp_path / "file").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")
def test_devices_and_pipes_are_never_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(BadRun, match="is not a regular file, and is left as it is"):
        write_whole(pipe, lambda draft: draft.write_text("new"))
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
