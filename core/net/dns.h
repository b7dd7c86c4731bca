/* dns - reads DNS questions; builds, walks and truncates DNS answers. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/net/host.h"

/*
 * For a forwarder: it reads a question, decides by its name, asks it again in a message of its own,
 * and reads the addresses of the answer. All input is untrusted: no function reads outside of the
 * message, and no loop is longer than the message.
 */
#define DNS_MAX	    65535
#define DNS_UDP_MIN 512 /* bytes that a client without EDNS accepts */
#define DNS_UDP_MAX 1232
#define DNS_HEADER  12

enum {
	DNS_A = 1,
	DNS_CNAME = 5,
	DNS_PTR = 12,
	DNS_AAAA = 28,
	DNS_SVCB = 64,
	DNS_HTTPS = 65,
	DNS_ANY = 255,
};

enum dns_rcode {
	DNS_OK = 0,
	DNS_FORMAT = 1,
	DNS_FAILED = 2,
	DNS_NO_NAME = 3,
	DNS_NOT_DONE = 4,
	DNS_REFUSED = 5,
};

struct dns_question {
	uint16_t id, type;
	char name[NET_NAME_MAX + 1]; /* folded */
	bool recurse;		     /* the client set RD */
	bool edns;
	bool sec, unchecked; /* DO, CD: flags about signatures */
	uint16_t room;	     /* bytes that the client accepts by UDP */
	size_t end;	     /* end of the question in the message */
};

/* Reads a question: one of class IN, without answers. Returns 0; -EINVAL: it has a header and can
 * be answered with DNS_FORMAT; -EBADMSG: do not answer it. */
int dns_read_question(struct dns_question *ret, const uint8_t *msg, size_t len);
/* Returns whether this is an answer to the question (which is in `query` up to q->end). */
bool dns_is_answer(const uint8_t *msg, size_t len, const uint8_t *query,
		   const struct dns_question *q, uint16_t id);
enum dns_rcode dns_code(const uint8_t *msg);
bool dns_is_cut(const uint8_t *msg); /* TC */
void dns_set_id(uint8_t *msg, uint16_t id);

/* Returns how long an answer can be cached: the least TTL of its records, in seconds. For an answer
 * without names the SOA record decides. 0: not at all, or the answer is damaged. */
uint32_t dns_life(const uint8_t *msg, size_t len);
/* Reduces every TTL of a cached answer by its age. */
void dns_age(uint8_t *msg, size_t len, uint32_t seconds);

/* Called for each address of the question's name, in order, through CNAME records and including
 * hints of HTTPS and SVCB records. ttl: seconds. */
typedef void (*dns_on_addr)(void *data, const struct net_addr *addr, uint32_t ttl);
int dns_walk(const uint8_t *msg, size_t len, const struct dns_question *q, dns_on_addr on,
	     void *data);

/* Makes the keys for encrypted hellos (ECH) in HTTPS and SVCB records useless, so that clients give
 * the server's name in clear. */
void dns_hide_ech(uint8_t *msg, size_t len);

/* Builds an answer to the query: its question, and an A or AAAA record if addr is given. Returns
 * its length; out has at least DNS_UDP_MIN bytes. why: sent to clients that understand it (RFC
 * 8914). */
size_t dns_answer(uint8_t *out, const uint8_t *query, const struct dns_question *q,
		  enum dns_rcode code, const struct net_addr *addr, const char *why);
/* Builds a query. Returns its length; out has at least DNS_UDP_MIN bytes. */
size_t dns_query(uint8_t *out, uint16_t id, const char *name, uint16_t type);
/* Builds a query for this question. It takes from the client only the folded name, a type for which
 * dns_is_asked() is true, and the flags about signatures. */
size_t dns_query_again(uint8_t *out, const struct dns_question *q);
bool dns_is_asked(uint16_t type); /* true for types with data of a host or a domain */
/* Turns an answer to dns_query_again() into one for the client's query, with its id and the letter
 * case of its question, and with EDNS if the query has it. Returns the length. */
size_t dns_answer_again(uint8_t *msg, size_t len, const uint8_t *query,
			const struct dns_question *q);
/* Truncates a message to at most max bytes: whole records only, with TC set. If the question does
 * not fit, only the header stays. Returns the new length. */
size_t dns_cut(uint8_t *msg, size_t len, size_t max);
