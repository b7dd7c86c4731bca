/* certificates - environment variables that name certificate authorities to trust. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/builtin/certificates.h"

#include <stddef.h>

const char *const certificate_variables[] = {"SSL_CERT_FILE", /* openssl(1) */
					     "SSL_CERT_DIR",
					     "NODE_EXTRA_CA_CERTS", /* node(1) */
					     "REQUESTS_CA_BUNDLE",  /* Python's requests */
					     "CURL_CA_BUNDLE",	    /* curl(1) */
					     "GIT_SSL_CAINFO", /* git-config(1), http.sslCAInfo */
					     "PIP_CERT",       /* pip */
					     "CARGO_HTTP_CAINFO", /* cargo */
					     "NPM_CONFIG_CAFILE", /* npm */
					     "npm_config_cafile",
					     "AWS_CA_BUNDLE",	  /* AWS' tools */
					     "DENO_CERT",	  /* deno */
					     "NIX_SSL_CERT_FILE", /* nix */
					     NULL};
