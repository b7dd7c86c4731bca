/* es_door - the keeper's door for messages of Endpoint Security. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/endpoint/es_queue.h"
#include "core/keeper/door.h"

struct keeper;

/*
 * This door does the work of the system-call door of Linux, except that the kernel performs the
 * call, after the answer. In a working folder, core/keeper/folders/folder.h (folder_foresee_*)
 * judges each change, asks about it and captures it before the kernel continues, so undo works as
 * on Linux. Elsewhere:
 *
 *   reads, programs   in dynamic mode by the policy, with questions as for a read on Linux
 *   changes           are left to Seatbelt's profile, which refuses changes without a grant
 *   a rename between  counts as a removal in the folder that the file leaves and a creation in the
 *                     folder that it enters
 *
 * A call is refused if its path no longer leads to the file that the kernel found. A file
 * that is already open for writing or mapped causes no further question, as on Linux.
 *
 * Life:    es_door_new() -> launch()'s door -> ops->close(), after es_system's stop(), so that no
 *          more messages arrive. Threads: the keeper's.
 */
struct es_door_spec {
	struct keeper *k;
	struct es_queue *queue; /* taken over */
	struct es_id agent;
	bool dynamic; /* reads outside the folders are judged */
	bool debug;   /* processes inside may debug each other */
};

struct door *es_door_new(const struct es_door_spec *spec);
