/* seatbelt_darwin - the backend on the calls of this system. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/beside.h"
#include "backends/macos/helper/helper.h"
#include "backends/macos/launch/launch.h"
#include "backends/macos/probe.h"
#include "backends/macos/seatbelt.h"
#include "backends/macos/xpc/log_stream.h"

static const struct seatbelt_host host = {.os = &mac_os_darwin,
					  .sandbox_exec = MAC_SANDBOX_EXEC,
					  .log = MAC_LOG_PROGRAM,
					  .endpoint = &es_system_darwin,
					  .open_door = es_door_new,
					  .find_human = human_find};

static uint32_t probe(struct probe_report *report, struct err *err)
{
	AUTO_FREE char *helper = mac_beside(NULL, HELPER_PROGRAM, HELPER_DIR);

	return mac_probe(host.os, helper, MAC_SANDBOX_EXEC, report, err);
}

static int launch(struct sandbox **ret, struct door **ret_door, const struct spawn_spec *spec,
		  struct keeper *k, int *ret_status, struct err *err)
{
	return seatbelt_launch(&host, ret, ret_door, spec, k, ret_status, err);
}

const struct backend backend_seatbelt = {
	.name = MAC_BACKEND_NAME,
	.summary = MAC_BACKEND_SUMMARY,
	.asks_network = true,
	.shares_network = true,
	.probe = probe,
	.launch = launch,
	.signal = seatbelt_signal,
	.stop = seatbelt_stop,
};
