/* SPDX-License-Identifier: BSD-3-Clause
 * Files of other formats, by their first bytes: who gives one to a reader of arrays by mistake is
 * told what it is. */
#include "core/foreign.h"

#include <string.h>

#define UNPACK "; unpack it first"
#define PAGE "; a server may have sent it instead of the file"

static const struct foreign {
    size_t at; /* where the mark stands */
    const char *mark;
    size_t len;
    const char *name, *hint;
} table[] = {
    { 0, "\x0e\x03\x13\x01", 4, "an HDF4 file", "" },
    { 0, "XTENSION=", 9, "an extension of a FITS file", "" },
    { 0, "CDF\x01", 4, "a netCDF classic file", "" },
    { 0, "CDF\x02", 4, "a netCDF classic file", "" },
    { 0, "CDF\x05", 4, "a netCDF classic file", "" },
    { 0, "PK\x03\x04", 4, "a zip archive", "; npz files and Zarr stores in zip archives are read" },
    { 0, "PK\x05\x06", 4, "an empty zip archive", "" },
    { 257, "ustar", 5, "a tar archive", UNPACK },
    { 0, "\x1f\x8b", 2, "a gzip file", UNPACK },
    { 0, "\x28\xb5\x2f\xfd", 4, "a zstd file", UNPACK },
    { 0, "\x04\x22\x4d\x18", 4, "an LZ4 file", UNPACK },
    { 0, "\xfd\x37zXZ", 6, "an xz file", UNPACK },
    { 0, "BZh", 3, "a bzip2 file", UNPACK },
    { 0, "7z\xbc\xaf\x27\x1c", 6, "a 7z archive", UNPACK },
    { 0, "II*\0", 4, "a TIFF file", "" },
    { 0, "MM\0*", 4, "a TIFF file", "" },
    { 0, "II+\0", 4, "a BigTIFF file", "" },
    { 0, "MM\0+", 4, "a BigTIFF file", "" },
    { 0, "\x89PNG\r\n\x1a\n", 8, "a PNG image", "" },
    { 0, "\xff\xd8\xff", 3, "a JPEG image", "" },
    { 0, "GIF8", 4, "a GIF image", "" },
    { 0, "PAR1", 4, "a Parquet file", "" },
    { 0, "ARROW1", 6, "an Arrow file", "" },
    { 0, "FEA1", 4, "a Feather file", "" },
    { 0, "MATLAB 5.0 MAT-file", 19, "a MATLAB 5 file", "" },
    { 344, "n+1", 4, "a NIfTI file", "" },
    { 128, "DICM", 4, "a DICOM file", "" },
    { 0, "GRIB", 4, "a GRIB file", "" },
    { 0, "SQLite format 3", 16, "an SQLite database", "" },
    { 0, "version https://git-lfs.github.com/", 35, "a Git LFS pointer",
      "; 'git lfs pull' fetches the file" },
    { 0, "<!DOCTYPE html", 14, "an HTML page", PAGE },
    { 0, "<!DOCTYPE HTML", 14, "an HTML page", PAGE },
    { 0, "<!doctype html", 14, "an HTML page", PAGE },
    { 0, "<html", 5, "an HTML page", PAGE },
    { 0, "<HTML", 5, "an HTML page", PAGE },
    { 0, "<?xml", 5, "an XML file", PAGE },
    { 0, "\x80\x02", 2, "a Python pickle", "; numpy.save writes npy" },
    { 0, "\x80\x03", 2, "a Python pickle", "; numpy.save writes npy" },
    { 0, "\x80\x04\x95", 3, "a Python pickle", "; numpy.save writes npy" },
    { 0, "\x80\x05\x95", 3, "a Python pickle", "; numpy.save writes npy" },
};

const char *cip_foreign_name(cip_bytes head, const char **hint)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct foreign *t = &table[i];
        if (head.len >= t->at + t->len && memcmp(head.ptr + t->at, t->mark, t->len) == 0) {
            *hint = t->hint;
            return t->name;
        }
    }
    return NULL;
}
