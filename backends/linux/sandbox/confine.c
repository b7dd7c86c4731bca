/* confine - drops capabilities of the sandbox's processes and of the keeper. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backends/linux/native_priv.h"
#include "backends/linux/sandbox/landlock.h"

static int set_caps(uint64_t caps)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};

	for (int i = 0; i < 2; i++)
		data[i].effective = data[i].permitted = (uint32_t)(caps >> (32 * i));
	return syscall(SYS_capset, &head, data) < 0 ? -errno : 0;
}

static void drop_bounding(void)
{
	/* Ends with EINVAL after the kernel's last capability. */
	for (int cap = 0; cap < 64; cap++) {
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0 && errno == EINVAL)
			return;
	}
}

static uint64_t permitted(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};

	if (syscall(SYS_capget, &head, data) < 0)
		return 0;
	return data[0].permitted | (uint64_t)data[1].permitted << 32;
}

int confine_drop_all(struct err *err)
{
	/* SECBIT_KEEP_CAPS is not locked: there are no capabilities to keep, and ping(8) fails if
	 * prctl(PR_SET_KEEPCAPS) is refused. */
	const unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
				   SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
				   SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
	int r;

	drop_bounding();
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	/* Without CAP_SETPCAP there are no capabilities, and no_new_privs prevents new ones. */
	if ((permitted() >> CAP_SETPCAP & 1) && prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) < 0)
		return err_set(err, -errno, "lock the securebits");
	r = set_caps(0);
	if (r < 0)
		return err_set(err, r, "drop the capabilities");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_set(err, -errno, "set no_new_privs");
	return 0;
}

int confine_has_none(struct err *err)
{
	if (permitted())
		return err_say(err, -EPERM, "pid 1 of the sandbox has capabilities");
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return err_say(err, -EPERM, "pid 1 of the sandbox may gain privileges");
	return 0;
}

/* Leaves root at most these capabilities. An ordinary user has none. */
static int keep_caps(uint64_t keep)
{
	if (geteuid() != 0)
		return 0;
	drop_bounding();
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return set_caps(keep & permitted());
}

static int confine_with(uint64_t keep, struct err *err)
{
	int r = keep_caps(keep);

	if (r == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		r = -errno;
	return r < 0 ? err_set(err, r, "drop a server's capabilities") : 0;
}

int confine_server(struct err *err)
{
	return confine_with(0, err);
}

int confine_parser(struct err *err)
{
	struct landlock_spec nowhere = {0};
	int r = confine_server(err);

	if (r == 0 && landlock_abi() >= LANDLOCK_ABI_NEEDED)
		r = landlock_restrict(&nowhere, err);
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of credentials clears it */
	return r;
}

int confine_reading_server(struct err *err)
{
	return confine_with(1ull << CAP_DAC_READ_SEARCH, err);
}

int confine_keeper(struct err *err)
{
	/*
	 * SYS_PTRACE: the keeper reads the agent's arguments from its memory and duplicates its
	 * sockets, also in a nested user namespace. LEASE: the journal checks for writers.
	 */
	const uint64_t keep = 1ull << CAP_CHOWN | 1ull << CAP_DAC_OVERRIDE | 1ull << CAP_FOWNER |
			      1ull << CAP_FSETID | 1ull << CAP_LEASE | 1ull << CAP_SYS_PTRACE |
			      1ull << CAP_SETFCAP | 1ull << CAP_MKNOD;
	/* The bounding set stays: the keeper runs no program, and the agent of a backend without
	 * namespaces inherits the set. */
	int r = keep_caps(keep);

	return r < 0 ? err_set(err, r, "give up the keeper's capabilities") : 0;
}

void confine_as_agent(bool on)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};
	uint64_t caps = permitted();

	if (caps == 0)
		return;
	for (int i = 0; i < 2; i++) {
		data[i].permitted = (uint32_t)(caps >> (32 * i));
		data[i].effective = (uint32_t)((on ? 0 : caps) >> (32 * i));
	}
	syscall(SYS_capset, &head, data);
}
