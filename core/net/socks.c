/* socks - messages of SOCKS 5 (RFC 1928, 1929) at a proxy. */
/* SPDX-License-Identifier: MIT */
#include "core/net/socks.h"

#include <errno.h>
#include <string.h>

enum {
	COMMAND_CONNECT = 1,
	BY_V4 = 1,
	BY_NAME = 3,
	BY_V6 = 4,
};

int socks_read_ways(bool *ret, const uint8_t *data, size_t len)
{
	*ret = false;
	if (len >= 1 && data[0] != SOCKS_VERSION)
		return -EBADMSG;
	if (len < 2 || len < 2u + data[1])
		return 0;
	*ret = memchr(data + 2, SOCKS_PASSWORD, data[1]) != NULL;
	return 2 + data[1];
}

int socks_read_secret(struct span *ret_name, struct span *ret_secret, const uint8_t *data,
		      size_t len)
{
	size_t name, secret;

	if (len >= 1 && data[0] != 1)
		return -EBADMSG;
	if (len < 2)
		return 0;
	name = data[1];
	if (len < 3 + name)
		return 0;
	secret = data[2 + name];
	if (len < 3 + name + secret)
		return 0;
	*ret_name = (struct span){(const char *)data + 2, name};
	*ret_secret = (struct span){(const char *)data + 3 + name, secret};
	return (int)(3 + name + secret);
}

/* Returns the length of the address at data[3], including a length byte; 0: more bytes are needed;
 * negative: unknown kind of address. */
static int address_length(const uint8_t *data, size_t len)
{
	switch (data[3]) {
	case BY_V4:
		return 4;
	case BY_V6:
		return 16;
	case BY_NAME:
		return len > 4 ? 1 + data[4] : 0;
	default:
		return -EBADMSG;
	}
}

int socks_read_request(struct net_target *ret, enum socks_reply *ret_reply, const uint8_t *data,
		       size_t len)
{
	const uint8_t *at = data + 4;
	struct net_addr addr = {{0}};
	uint32_t v4;
	bool known;
	int n;

	*ret = (struct net_target){0};
	if ((len >= 1 && data[0] != SOCKS_VERSION) || (len >= 3 && data[2] != 0))
		return -EBADMSG;
	if (len < 4)
		return 0;
	n = address_length(data, len);
	if (n <= 0 || len < 4 + (size_t)n + 2)
		return MIN(n, 0);
	known = true;
	if (data[3] == BY_NAME) {
		known = net_host_parse(&ret->host, (const char *)at + 1, (size_t)n - 1, NULL);
	} else if (data[3] == BY_V4) {
		v4 = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
		addr = net_addr_v4(v4);
		net_host_from_addr(&ret->host, &addr);
	} else {
		memcpy(addr.b, at, sizeof(addr.b));
		net_host_from_addr(&ret->host, &addr);
	}
	ret->port = (uint16_t)(at[n] << 8 | at[n + 1]);
	*ret_reply = data[1] != COMMAND_CONNECT ? SOCKS_NO_COMMAND
		     : !known || ret->port == 0 ? SOCKS_NO_HOST
						: SOCKS_OK;
	return 4 + n + 2;
}

void socks_answer(uint8_t out[SOCKS_REPLY], enum socks_reply reply)
{
	memset(out, 0, SOCKS_REPLY);
	out[0] = SOCKS_VERSION;
	out[1] = (uint8_t)reply;
	out[3] = BY_V4;
}
