"""The layer of the function that renders pictures."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from infra import deploy, layer, package, stacks, steps


class Lambda:
    """Keeps the versions of a layer."""

    def __init__(self) -> None:
        self.versions: list[dict[str, Any]] = []

    def list_layer_versions(self, LayerName: str) -> Any:
        return {"LayerVersions": [one for one in self.versions if one["name"] == LayerName]}

    def publish_layer_version(self, LayerName: str, Description: str, Content: Any) -> Any:
        number = len(self.versions) + 1
        arn = f"arn:{LayerName}:{number}"
        made = {"LayerVersionArn": arn, "Description": Description, "Version": number}
        self.versions.append({**made, "name": LayerName})
        return made

    def delete_layer_version(self, LayerName: str, VersionNumber: int) -> None:
        self.versions = [one for one in self.versions if one["Version"] != VersionNumber]


@pytest.fixture
def functions(monkeypatch: pytest.MonkeyPatch) -> Lambda:
    made = Lambda()
    monkeypatch.setattr("boto3.client", lambda service: made)
    return made


def test_a_layer_is_published_once_and_deleted_with_its_stage(
    functions: Lambda, tmp_path: Path
) -> None:
    zipped = tmp_path / "layer.zip"
    zipped.write_bytes(b"one")
    first = layer.publish("prod", zipped)
    assert layer.publish("prod", zipped) == first
    assert layer.publish("test", zipped) != first
    zipped.write_bytes(b"two")
    assert layer.publish("prod", zipped) != first and len(functions.versions) == 3
    layer.delete("prod")
    assert [one["name"] for one in functions.versions] == ["backroom-test-pictures"]


@pytest.mark.thorough
def test_the_layer_has_pillow_for_lambda_and_is_always_the_same(tmp_path: Path) -> None:
    first, second = (layer.build(tmp_path / name) for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(io.BytesIO(first.read_bytes())) as zipped:
        names = zipped.namelist()
    assert "python/PIL/Image.py" in names
    assert any(name.endswith("x86_64-linux-gnu.so") for name in names)


def test_no_function_but_one_has_pillow() -> None:
    for name in ("requirements.txt", "requirements-emulator.txt"):
        assert "pillow" not in (package.PROJECT / name).read_text().lower()
    source = "".join(path.read_text() for path in (package.PROJECT / "chalicelib").rglob("*.py"))
    assert source.count("from PIL import") == 1
    assert layer.FUNCTION in steps.ROLES


def test_an_account_that_blocks_public_buckets_is_told_the_two_ways(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(options: object) -> None:
        raise stacks.StackError("backroom-prod-resources: PicturesPolicy: Access Denied")

    monkeypatch.setattr(deploy, "_at_aws", fail)
    monkeypatch.setattr("sys.argv", ["deploy.py", "--stage", "prod"])
    with pytest.raises(SystemExit) as ended:
        deploy.main()
    text = str(ended.value)
    assert "--picture-readers" in text and "--picture-address" in text and "allow public" in text


def test_the_address_of_a_cdn_is_one_of_https() -> None:
    assert steps.check_picture_address("https://cdn.example.com/") == "https://cdn.example.com"
    for wrong in ("http://cdn.example.com", "cdn.example.com", "https://", "https://a.b/?x"):
        with pytest.raises(Exception, match="is no address"):
            steps.check_picture_address(wrong)
