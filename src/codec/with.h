/* SPDX-License-Identifier: BSD-3-Clause
 * Which libraries this build has. The build system says 0 where one is missing or switched off; a
 * codec that was left out answers UNSUPPORTED. */
#ifndef CIP_CODEC_WITH_H
#define CIP_CODEC_WITH_H

#ifndef CIP_WITH_ZLIB
#define CIP_WITH_ZLIB 1 /* zlib for streams and libdeflate for whole chunks */
#endif
#ifndef CIP_WITH_BZIP2
#define CIP_WITH_BZIP2 1
#endif
#ifndef CIP_WITH_LZ4
#define CIP_WITH_LZ4 1 /* raw blocks and frames */
#endif
#ifndef CIP_WITH_ZSTD
#define CIP_WITH_ZSTD 1
#endif
#ifndef CIP_WITH_SNAPPY
#define CIP_WITH_SNAPPY 1 /* in Blosc1 chunks */
#endif
#ifndef CIP_WITH_ZFP
#define CIP_WITH_ZFP 1 /* in Blosc2 chunks */
#endif
#ifndef CIP_WITH_AEC
#define CIP_WITH_AEC 1 /* HDF5's filter szip */
#endif

#endif
