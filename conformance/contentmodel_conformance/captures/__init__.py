"""Conversion of HTTP captures (HAR files, VCR cassettes, flow files of mitmproxy) to recorded traffic.

`reading` reads capture files as entries. `recognition` finds the API of an entry, and `bodies` decodes its bodies.
`scrubbing` removes secrets. `recorder` converts entries to records, and writes the folder that `recordings` reads.
"""
