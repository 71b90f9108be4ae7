/* SPDX-License-Identifier: BSD-3-Clause
 * Who asks S3, and where: from the environment variables and files that AWS's own tools read. */
#ifndef CIP_IO_AWS_H
#define CIP_IO_AWS_H

#include "base/buffer.h"

typedef struct cip_aws {
    char region[32];
    char key[256], secret[256]; /* "" both: anonymous */
    char token[4096];           /* of a session, or "" */
    char endpoint[512];         /* a URL, or "": Amazon's */
    char elsewhere[48];         /* a variable that leads to keys that are not looked up, or "" */
} cip_aws;

/* AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, else the profile AWS_PROFILE
 * ("default") of AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials) and AWS_CONFIG_FILE
 * (~/.aws/config); AWS_REGION or AWS_DEFAULT_REGION, else that profile's, else us-east-1;
 * AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, else the profile's. AWS_NO_SIGN_REQUEST=YES:
 * anonymous, as without credentials. NOT_FOUND for a profile that was asked for; UNSUPPORTED for
 * one that has no keys of its own (roles, single sign-on, programs); CORRUPT, LIMIT. */
cip_status cip_aws_find(cip_mem *mem, cip_aws *out, cip_err *err);

/* Whether it can be the name of a region, which is part of a host's name. */
bool cip_aws_is_region(const char *text);

/* Takes what a profile's section says out of the text of such a file: "[name]", and "[profile
 * name]" in the config file. False where there is no such section. `other` is set where it gets
 * its credentials another way. What is too long is left out. */
bool cip_aws_parse(cip_aws *a, const char *text, size_t n, const char *profile, bool *other);

/* Where the key in "s3://bucket/key?versionId=..." ends. */
size_t cip_aws_key_end(const char *url);
/* The URL of "s3://bucket/key", which is not encoded, or of a version of it, as above. CORRUPT for
 * a name no bucket can have. */
cip_status cip_aws_url(const cip_aws *a, const char *url, cip_buf *out, cip_err *err);
/* ... of the names that begin with the key of "s3://bucket/key/" (a slash at its end), up to the
 * next slash, from `after` ("": the first) on. */
cip_status cip_aws_list_url(const cip_aws *a, const char *url, const char *after, cip_buf *out,
                            cip_err *err);

#endif
