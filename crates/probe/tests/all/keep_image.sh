#!/bin/sh
# keep_image.sh FOLDER COMMAND... IMAGE: keeps a copy of the image in FOLDER, then is COMMAND... IMAGE.
folder=$1
shift
for image; do :; done
cp "$image" "$folder/image.elf"
exec "$@"
