def main(url: str, retries: int = 0) -> bool:
    """Checks a page.

    :param url: Address of the page,
        with https.
    :param int retries: How often to try again.
    :returns: whether it exists
    """
    return True
# valid {"url": "https://example.com"}
# invalid {}
