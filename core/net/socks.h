/* socks - messages of SOCKS 5 (RFC 1928, 1929) at a proxy. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/net/host.h"

/*
 * A client sends its authentication methods, then its name and secret, then the target: a name or
 * an address. Each read function returns the length of the message, 0 if it is not complete yet, or
 * -EBADMSG.
 */
#define SOCKS_VERSION  5
#define SOCKS_LONGEST  513 /* bytes of the longest message */
#define SOCKS_PASSWORD 2   /* the required method */
#define SOCKS_NO_WAY   0xff

enum socks_reply {
	SOCKS_OK = 0,
	SOCKS_FAILED = 1,
	SOCKS_FORBIDDEN = 2,
	SOCKS_NO_NETWORK = 3,
	SOCKS_NO_HOST = 4,
	SOCKS_REFUSED = 5,
	SOCKS_NO_COMMAND = 7,
};

/* Sets *ret to whether the client offers the method with name and secret. */
int socks_read_ways(bool *ret, const uint8_t *data, size_t len);
int socks_read_secret(struct span *ret_name, struct span *ret_secret, const uint8_t *data,
		      size_t len);
/* Sets *ret_reply to SOCKS_OK, or to the reason of a refusal. */
int socks_read_request(struct net_target *ret, enum socks_reply *ret_reply, const uint8_t *data,
		       size_t len);
#define SOCKS_REPLY 10 /* bytes */
void socks_answer(uint8_t out[SOCKS_REPLY], enum socks_reply reply);
