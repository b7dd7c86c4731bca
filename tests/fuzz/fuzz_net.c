/* fuzz_net - messages of the domain name system, hello messages, hosts and patterns of any bytes.
 */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/net/book.h"
#include "core/net/dns.h"
#include "core/net/hello.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void note(void *data, const struct net_addr *a, uint32_t ttl)
{
	char text[NET_ADDR_TEXT];

	(void)ttl;
	net_addr_format(a, text);
	*(size_t *)data += strlen(text);
}

static void message(const uint8_t *data, size_t size)
{
	uint8_t out[DNS_UDP_MIN], copy[2048];
	struct dns_question q;
	size_t n = 0, len = size < sizeof(copy) ? size : sizeof(copy);
	int r = dns_read_question(&q, data, size);

	if (r == 0 || r == -22) {
		const struct net_addr a = net_addr_v4(0xc6120101);

		n = dns_answer(out, data, &q, DNS_OK, r == 0 ? &a : NULL, "no rule");
		if (n > sizeof(out) || (r == 0 && !dns_is_answer(out, n, data, &q, q.id)))
			abort();
	}
	n = dns_query(out, 1, "a.example", DNS_A);
	if (dns_read_question(&q, out, n) != 0)
		abort();
	n = 0;
	if (dns_walk(data, size, &q, note, &n) == 0)
		(void)dns_is_answer(data, size, out, &q, 1);
	memcpy(copy, data, len);
	(void)dns_life(copy, len);
	dns_age(copy, len, 10);
	dns_hide_ech(copy, len);
	if (dns_cut(copy, len, 512) > len)
		abort();
}

/* Returns the number of names. Each reads back as a host, and was there when its byte came. */
static unsigned names(const uint8_t *data, size_t size)
{
	char name[NET_NAME_MAX + 1];
	struct net_host host;
	unsigned n = 0;

	while (hello_name(data, size, n, name) == HELLO_NAME) {
		if (strcmp(name, HELLO_UNREADABLE) != 0 &&
		    (!net_host_parse(&host, name, strlen(name), NULL) ||
		     strcmp(host.name, name) != 0))
			abort();
		n++;
	}
	return n;
}

static void hello(const uint8_t *data, size_t size)
{
	unsigned all, before = 0;

	size = size < HELLO_MAX ? size : HELLO_MAX - 1;
	all = names(data, size);
	for (size_t len = 0; len <= size; len += 1 + size / 64) {
		unsigned n = names(data, len);

		if (n < before || n > all)
			abort();
		before = n;
	}
}

/* Hosts must read back as written. */
static void hosts(const char *text)
{
	char once[NET_TARGET_TEXT], twice[NET_TARGET_TEXT];
	struct net_pattern p;
	struct net_target t, t2;

	if (net_target_parse(&t, text, NULL)) {
		net_target_format(&t, once);
		if (!net_target_parse(&t2, once, NULL))
			abort();
		net_target_format(&t2, twice);
		if (strcmp(once, twice) != 0)
			abort();
	}
	if (net_pattern_parse(&p, text, NULL))
		(void)net_pattern_depth(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[512];
	size_t n = size < sizeof(text) - 1 ? size : sizeof(text) - 1;

	message(data, size);
	hello(data, size);
	memcpy(text, data, n);
	text[n] = '\0';
	hosts(text);
	return 0;
}
