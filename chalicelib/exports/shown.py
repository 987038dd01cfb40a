"""Where a finished export can be downloaded."""

from chalicelib.exports import files

download_url = files.url
