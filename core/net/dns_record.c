/* dns_record - names and records of DNS messages. */
/* SPDX-License-Identifier: MIT */
#include "core/net/dns_record.h"

size_t dns_read_name(const uint8_t *msg, size_t len, size_t at, char out[NET_NAME_MAX + 1])
{
	size_t after = 0, n = 0, limit = at;

	while (at < len) {
		size_t label = msg[at];

		if (label == 0) {
			out[n ? n - 1 : 0] = '\0';
			return after ? after : at + 1;
		}
		if ((label & 0xc0) == 0xc0) {
			size_t to;

			if (at + 2 > len)
				return 0;
			to = get16(msg + at) & 0x3fffu;
			if (to >= limit || to < DNS_HEADER)
				return 0;
			after = after ? after : at + 2;
			at = limit = to;
			continue;
		}
		if (label > 63 || at + 1 + label > len || n + label + 1 > NET_NAME_MAX + 1)
			return 0;
		for (size_t i = 1; i <= label; i++) {
			uint8_t c = msg[at + i];

			if (c <= ' ' || c >= 0x7f || c == '.')
				return 0;
			out[n++] = (char)(c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c);
		}
		out[n++] = '.';
		at += 1 + label;
	}
	return 0;
}

size_t dns_skip_name(const uint8_t *msg, size_t len, size_t at)
{
	while (at < len) {
		if (msg[at] == 0)
			return at + 1;
		if ((msg[at] & 0xc0) == 0xc0)
			return at + 2 <= len ? at + 2 : 0;
		if (msg[at] > 63)
			return 0;
		at += 1u + msg[at];
	}
	return 0;
}

bool dns_read_record(const uint8_t *msg, size_t len, size_t at, struct dns_record *ret)
{
	size_t head = dns_skip_name(msg, len, at);

	if (head == 0 || head + 10 > len)
		return false;
	*ret = (struct dns_record){.name = at,
				   .data = head + 10,
				   .type = get16(msg + head),
				   .class = get16(msg + head + 2),
				   .ttl = get32(msg + head + 4),
				   .len = get16(msg + head + 8)};
	ret->end = ret->data + ret->len;
	return ret->end <= len;
}

bool dns_next_record(const uint8_t *msg, size_t len, size_t *at, unsigned *left,
		     struct dns_record *ret)
{
	if (*left == 0 || !dns_read_record(msg, len, *at, ret))
		return false;
	(*left)--;
	*at = ret->end;
	return true;
}

size_t dns_first_record(const uint8_t *msg, size_t len, unsigned *left)
{
	size_t at = len < DNS_HEADER ? 0 : dns_skip_name(msg, len, DNS_HEADER);

	if (at == 0 || at + 4 > len || dns_count(msg, 0) != 1)
		return 0;
	*left = dns_count(msg, 1) + dns_count(msg, 2) + dns_count(msg, 3);
	return at + 4;
}
