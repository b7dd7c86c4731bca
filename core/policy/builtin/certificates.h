/* certificates - environment variables that name certificate authorities to trust. */
/* SPDX-License-Identifier: MIT */
#pragma once

/* "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"... Each names a file or a directory, SSL_CERT_DIR several.
 * They are passed inside, where the files that they name may be read. Ends with NULL. */
extern const char *const certificate_variables[];
