yes & yes >&2
