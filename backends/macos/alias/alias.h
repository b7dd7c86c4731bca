/* alias - what the helper does that adds an address to the loopback device of a Mac. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Linux has all of 127.0.0.0/8, macOS 127.0.0.1 alone. cordon-loopback is a program of its own,
 * root's and setuid, for one ioctl: `cordon-loopback 127.0.0.2`. Anybody may run it, so:
 *
 * - Its rights are put aside before it looks at anything, taken up for the one call, and given up
 *   for good after it, whatever came of it.
 * - It takes one argument, and of that one spelling of an address of the loopback device.
 * - It adds none that is there already, and no more than ALIAS_MAX in all, whoever asks.
 * - It removes none: another session of anybody's may use it. They are gone at the next start of
 * the Mac.
 * - It reads no environment, no file and no descriptor; it links nothing of cordon's but this.
 *
 * Pure but for struct alias_os, which tests have one of their own of.
 */
#define ALIAS_MAX 64

/* "127.0.0.2", host order. False: another spelling, not of 127.0.0.0/8, or one that is there anyway
 * (127.0.0.1), names the whole net, or all hosts of it. */
bool alias_parse(uint32_t *ret, const char *text);

struct alias_os {
	void *data; /* handed to each */
	/* Rights: put aside, so that they can be taken up; taken up; given up for good. 0 or
	 * negative errno. */
	int (*put_aside)(void *data);
	int (*take_up)(void *data);
	int (*give_up)(void *data);
	/* The addresses of lo0 in host order: how many there are, at most max of them in out; or
	 * negative errno. */
	int (*list)(void *data, uint32_t *out, size_t max);
	int (*add)(void *data, uint32_t address);
	void (*say)(void *data, const char *words, int code); /* code: negative errno, 0: none */
};

enum alias_status {
	ALIAS_DONE = 0, /* it is there */
	ALIAS_FAILED = 1,
	ALIAS_USAGE = 2,
	ALIAS_NO_RIGHTS =
		3, /* the helper is not installed as root's, or does not get rid of them */
};

/* What main() returns. */
int alias_run(const struct alias_os *os, int argc, char *const *argv);
