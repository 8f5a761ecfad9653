"""Captures of HTTP traffic as recorded traffic: HAR, VCR cassettes, and flows of mitmproxy.

`reading` reads capture files as entries. `recognition` finds the API of an entry, and `bodies` decodes its bodies.
`scrubbing` removes secrets. `recorder` makes records of entries, and writes them as a folder that `recordings` reads.
"""
