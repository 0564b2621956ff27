"""Tells schemathesis facts about the API that the OpenAPI document cannot express."""
import gzip
import io
import tarfile

import schemathesis


@schemathesis.serializer("application/gzip")
def archive(ctx, value):
    """Sends a generated value as a file in a gzipped tar. So the server can read the archive, but the content of the
    archive is wrong."""
    content = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        about = tarfile.TarInfo("agents/odd/agent.yaml")
        about.size = len(content)
        tar.addfile(about, io.BytesIO(content))
    return gzip.compress(packed.getvalue())
