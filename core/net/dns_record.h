/* dns_record - names and records of DNS messages, for reading and building. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/net/dns.h"

#define DNS_CLASS_IN 1
#define DNS_SOA	     6 /* types of records */
#define DNS_OPT	     41
#define DNS_FLAG_QR  0x8000u
#define DNS_FLAG_TC  0x0200u
#define DNS_FLAG_RD  0x0100u
#define DNS_FLAG_CD  0x0010u
#define DNS_TTL_DO   0x8000u /* a flag of OPT, in the field that is the TTL of other records */

static inline uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t get32(const uint8_t *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static inline void put16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static inline void put32(uint8_t *p, uint32_t v)
{
	put16(p, v >> 16);
	put16(p + 2, v & 0xffff);
}

/* Returns the number of records that the head gives for a section (0: questions). */
static inline unsigned dns_count(const uint8_t *msg, size_t section)
{
	return get16(msg + 4 + 2 * section);
}

struct dns_record {
	size_t name, data, end; /* offsets */
	uint16_t type, class, len;
	uint32_t ttl;
};

/*
 * Reads the name at `at` as text, in lower case, with dots between labels. Follows compression only
 * towards the head, so it ends. Returns where the record continues; 0: not a name, or one with
 * bytes that no host name has.
 */
size_t dns_read_name(const uint8_t *msg, size_t len, size_t at, char out[NET_NAME_MAX + 1]);
/* Returns where the record continues after a name of any content; 0: the name has no end. */
size_t dns_skip_name(const uint8_t *msg, size_t len, size_t at);
bool dns_read_record(const uint8_t *msg, size_t len, size_t at, struct dns_record *ret);
/* Returns the offset of the first record after the question; 0: none. *left: their number. */
size_t dns_first_record(const uint8_t *msg, size_t len, unsigned *left);
/* Reads the next record after the question, and counts *left down. */
bool dns_next_record(const uint8_t *msg, size_t len, size_t *at, unsigned *left,
		     struct dns_record *ret);
