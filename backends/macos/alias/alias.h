/* alias - the helper that adds an address to the loopback device of a Mac. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Linux has all of 127.0.0.0/8, macOS 127.0.0.1 alone. cordon-loopback is a separate setuid-root
 * program for one ioctl: `cordon-loopback 127.0.0.2`. Every user may run it, so:
 *
 * - It drops its privileges before it reads its argument, regains them for the one call, and then
 *   drops them for good, also on failure.
 * - It takes one argument, an address of the loopback device in one spelling.
 * - It adds no address that exists already, and no more than ALIAS_MAX for all users together.
 * - It removes no address: another session may use it. The next boot removes all.
 * - It reads no environment, no file and no descriptor; of cordon it links only this file.
 *
 * Pure but for struct alias_os, which tests replace.
 */
#define ALIAS_MAX 64

/* Parses "127.0.0.2" to host order. Returns false for another spelling, an address outside
 * 127.0.0.0/8, 127.0.0.1 (it always exists), and the net's own and broadcast address. */
bool alias_parse(uint32_t *ret, const char *text);

struct alias_os {
	void *data; /* handed to each */
	/* Drop the privileges for now; regain them; drop them for good. 0 or negative errno. */
	int (*put_aside)(void *data);
	int (*take_up)(void *data);
	int (*give_up)(void *data);
	/* Lists the addresses of lo0 in host order. Returns their number, and at most max of them
	 * in out; or negative errno. */
	int (*list)(void *data, uint32_t *out, size_t max);
	int (*add)(void *data, uint32_t address);
	void (*say)(void *data, const char *words, int code); /* code: negative errno, 0: none */
};

enum alias_status {
	ALIAS_DONE = 0, /* the address exists */
	ALIAS_FAILED = 1,
	ALIAS_USAGE = 2,
	/* The helper is not setuid root, or cannot drop its privileges. */
	ALIAS_NO_RIGHTS = 3,
};

/* Runs the helper. Returns main()'s exit status. */
int alias_run(const struct alias_os *os, int argc, char *const *argv);
