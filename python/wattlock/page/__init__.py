"""A browser as a device: a page that measures itself, the server that it is from, and the run that comes of it.

`module` finds the instrument as WebAssembly; `target` is the page as a target of a run; `visits` judges what pages
post; `server` hands out files and questions; `measuring` carries a study out on a page; `certificate` is for https,
`qr` shows the address to a phone's camera.
"""
