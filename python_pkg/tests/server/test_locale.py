"""JupyterLab finds our translations by the entry point and the folder."""

import pytest

translation_utils = pytest.importorskip(
    "jupyterlab_server.translation_utils", reason="JupyterLab is not installed"
)


def test_jupyterlab_finds_the_chinese_catalogue():
    catalogues, message = translation_utils.get_installed_packages_locale("zh_CN")
    assert message == ""
    assert catalogues["memtrack"][""]["domain"] == "memtrack"


def test_jupyterlab_merges_it_into_the_language_pack():
    pytest.importorskip("jupyterlab_language_pack_zh_CN", reason="no Chinese language pack")
    pack, message = translation_utils.get_language_pack("zh_CN")
    assert message == ""
    assert "memtrack" in pack
