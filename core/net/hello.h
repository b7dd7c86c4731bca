/* hello - finds the host that a client names in the first bytes of a connection. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "core/net/host.h"

/*
 * In TLS: the server name (SNI) of the ClientHello, which may lie in several records. In HTTP/1:
 * the host of a request target like "http://HOST/PATH", then Host. Other protocols name none here,
 * nor does CONNECT, which speaks to a proxy. An address is no name.
 *
 * The bytes are untrusted, and a client may send them one by one: hello_name() is called again with
 * all bytes so far. A server acts on a whole hello or head only, so incomplete ones may be passed
 * on.
 */
#define HELLO_MAX	 32768
#define HELLO_UNREADABLE "?" /* in the place of a name: no host can have it */

enum hello {
	HELLO_MORE, /* further bytes may have the name */
	HELLO_NAME,
	HELLO_OVER, /* no bytes will */
};

/* Finds name number n, from 0: a message with two names is not trusted to mean the first. The name
 * is folded as in struct net_host. A malformed hello, a host that is none, and a message of
 * HELLO_MAX bytes that has not named a host give HELLO_UNREADABLE. With HELLO_MAX bytes the result
 * is never HELLO_MORE. */
enum hello hello_name(const uint8_t *data, size_t len, unsigned n, char name[NET_NAME_MAX + 1]);
