/* openssl - libssl and libcrypto, opened by the TLS process alone. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "core/base/err.h"

/*
 * The two libraries have 23 000 relocations, two thirds of the loading time of cordon, and take 2
 * MB of memory. Only a session with network.secret needs them, so they are opened with dlopen() and
 * called through this table. Their interface is stable within a major version, which is part of the
 * file's name.
 *
 * Life: openssl_open() before the first call; open until the process ends. Threads: one.
 */
#define OPENSSL_FUNCTIONS(X)                                                                       \
	X(BIO_ctrl)                                                                                \
	X(BIO_ctrl_pending)                                                                        \
	X(BIO_free)                                                                                \
	X(BIO_new)                                                                                 \
	X(BIO_new_mem_buf)                                                                         \
	X(BIO_new_socket)                                                                          \
	X(BIO_s_mem)                                                                               \
	X(BIO_write)                                                                               \
	X(BN_bin2bn)                                                                               \
	X(BN_free)                                                                                 \
	X(BN_to_ASN1_INTEGER)                                                                      \
	X(ERR_clear_error)                                                                         \
	X(ERR_error_string_n)                                                                      \
	X(ERR_get_error)                                                                           \
	X(ERR_peek_error)                                                                          \
	X(ERR_reason_error_string)                                                                 \
	X(EVP_PKEY_Q_keygen)                                                                       \
	X(EVP_PKEY_free)                                                                           \
	X(EVP_sha256)                                                                              \
	X(OPENSSL_init_ssl)                                                                        \
	X(PEM_read_bio_X509)                                                                       \
	X(PEM_write_bio_X509)                                                                      \
	X(RAND_bytes)                                                                              \
	X(SSL_CTX_ctrl)                                                                            \
	X(SSL_CTX_free)                                                                            \
	X(SSL_CTX_get_cert_store)                                                                  \
	X(SSL_CTX_new)                                                                             \
	X(SSL_CTX_set_alpn_select_cb)                                                              \
	X(SSL_CTX_set_client_hello_cb)                                                             \
	X(SSL_CTX_set_num_tickets)                                                                 \
	X(SSL_CTX_set_options)                                                                     \
	X(SSL_CTX_set_verify)                                                                      \
	X(SSL_CTX_use_PrivateKey)                                                                  \
	X(SSL_CTX_use_certificate)                                                                 \
	X(SSL_accept)                                                                              \
	X(SSL_client_hello_get0_ext)                                                               \
	X(SSL_ctrl)                                                                                \
	X(SSL_free)                                                                                \
	X(SSL_get0_param)                                                                          \
	X(SSL_get_error)                                                                           \
	X(SSL_get_ex_data)                                                                         \
	X(SSL_get_verify_result)                                                                   \
	X(SSL_is_init_finished)                                                                    \
	X(SSL_new)                                                                                 \
	X(SSL_read_ex)                                                                             \
	X(SSL_set0_rbio)                                                                           \
	X(SSL_set_SSL_CTX)                                                                         \
	X(SSL_set_accept_state)                                                                    \
	X(SSL_set_alpn_protos)                                                                     \
	X(SSL_set_bio)                                                                             \
	X(SSL_set_connect_state)                                                                   \
	X(SSL_set_ex_data)                                                                         \
	X(SSL_set_fd)                                                                              \
	X(SSL_set_hostflags)                                                                       \
	X(SSL_shutdown)                                                                            \
	X(SSL_write_ex)                                                                            \
	X(TLS_client_method)                                                                       \
	X(TLS_server_method)                                                                       \
	X(X509V3_EXT_conf_nid)                                                                     \
	X(X509V3_set_ctx)                                                                          \
	X(X509_EXTENSION_free)                                                                     \
	X(X509_NAME_add_entry_by_txt)                                                              \
	X(X509_NAME_free)                                                                          \
	X(X509_NAME_new)                                                                           \
	X(X509_STORE_add_cert)                                                                     \
	X(X509_VERIFY_PARAM_set1_host)                                                             \
	X(X509_add_ext)                                                                            \
	X(X509_free)                                                                               \
	X(X509_get_serialNumber)                                                                   \
	X(X509_get_subject_name)                                                                   \
	X(X509_getm_notAfter)                                                                      \
	X(X509_getm_notBefore)                                                                     \
	X(X509_gmtime_adj)                                                                         \
	X(X509_new)                                                                                \
	X(X509_set_issuer_name)                                                                    \
	X(X509_set_pubkey)                                                                         \
	X(X509_set_subject_name)                                                                   \
	X(X509_set_version)                                                                        \
	X(X509_sign)                                                                               \
	X(X509_verify_cert_error_string)

struct openssl {
#define X(name) __typeof__(name) *name;
	OPENSSL_FUNCTIONS(X)
#undef X
};

/* All pointers are NULL until openssl_open(). */
extern struct openssl openssl;

/* Loads the libraries. On failure, *err names the missing one. */
int openssl_open(struct err *err) MUST_USE;
