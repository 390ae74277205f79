"""An object store that speaks S3, on this machine, for the time of a test."""

import logging

import pytest


@pytest.fixture(scope="module")
def store():
    """The URL of an empty bucket."""
    pytest.importorskip("s3fs", reason="needs the extra scale")
    server = pytest.importorskip("moto.server", reason="needs moto[server]")
    logging.getLogger("werkzeug").setLevel("ERROR")
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "anybody")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "anything")
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        import fsspec

        fsspec.filesystem("s3", skip_instance_cache=True).mkdir("pictures")
        yield "s3://pictures"
    running.stop()
