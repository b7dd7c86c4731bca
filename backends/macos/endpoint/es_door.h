/* es_door - the keeper's door for messages of Endpoint Security. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/endpoint/es_queue.h"
#include "core/keeper/door.h"

struct keeper;

/*
 * What the system-call door is on Linux, but for one thing: the call is performed by the kernel,
 * after the answer. In a working folder each change is judged, asked about and captured by
 * core/keeper/folders/folder.h (folder_foresee_*) before it is let go on, and so is undone like
 * those on Linux. Of what lies elsewhere:
 *
 *   reads, programs   in dynamic mode as the policy says, asked about like a read on Linux
 *   changes           are not ours: Seatbelt's profile refuses those that are not granted
 *   a rename between  taken apart: what leaves a folder is removed there, what comes is made there
 *
 * That the path still leads to the file that the kernel found is looked at; else it is refused. A
 * file that is open for writing already, and one that is mapped, is not asked about again, as on
 * Linux.
 *
 * Life:    es_door_new() -> launch()'s door -> ops->close(), by when the system has been stopped:
 * no message is put any more. Threads: the keeper's.
 */
struct es_door_spec {
	struct keeper *k;
	struct es_queue *queue; /* taken over */
	struct es_id agent;
	bool dynamic; /* reads outside the folders are judged */
	bool debug;   /* those inside may debug each other */
};

struct door *es_door_new(const struct es_door_spec *spec);
