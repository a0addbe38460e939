
/*
 * In retort-front, as its own uid without any capability.  The client's wishes
 * for limits: refused above the ceiling, never lowered in silence.
 */

#include "../json_in.h"
#include "native.h"


static int
native_narrow(json_object *v, const char *name, uint32_t max, uint32_t *to,
    err_t *e)
{
    uint64_t  wide;

    if (json_in_whole(v, name, max, &wide, e) == -1) {
        return -1;
    }

    *to = (uint32_t) wide;

    return 0;
}


static int
native_memory(void *to, json_object *v, err_t *e)
{
    native_limits_t  *l;

    l = to;

    return json_in_whole(v, "limits.memory_bytes", l->req->box_max.memory,
                       &l->box->memory, e);
}


static int
native_disk(void *to, json_object *v, err_t *e)
{
    native_limits_t  *l;

    l = to;

    return json_in_whole(v, "limits.disk_bytes", l->req->box_max.disk,
                       &l->box->disk, e);
}


static int
native_processes(void *to, json_object *v, err_t *e)
{
    native_limits_t  *l;

    l = to;

    return native_narrow(v, "limits.processes", l->req->box_max.processes,
                         &l->box->processes, e);
}


static int
native_open_files(void *to, json_object *v, err_t *e)
{
    native_limits_t  *l;

    l = to;

    return native_narrow(v, "limits.files", l->req->box_max.files,
                         &l->box->files, e);
}


static int
native_cpu(void *to, json_object *v, err_t *e)
{
    double            cores;
    uint32_t          max;
    native_limits_t  *l;

    l = to;
    max = l->req->box_max.cpu;
    cores = json_object_get_double(v);

    if (!(cores >= 0.001) || cores * 1000 > (double) max) {
        return err_set(e, 400, "bad_value", "\"limits.cpu\" must be from 0.001 "
                       "to %u.%03u cores", max / 1000, max % 1000);
    }

    l->box->cpu = (uint32_t) (cores * 1000);

    return 0;
}


static int
native_output(void *to, json_object *v, err_t *e)
{
    native_limits_t  *l;

    l = to;

    if (l->output == NULL) {
        return err_set(e, 400, "bad_value",
                       "\"limits.output_bytes\" is set with each run");
    }

    return json_in_whole(v, "limits.output_bytes", l->req->run_max.output,
                       l->output, e);
}


static const json_in_key_t  native_limit_keys[] = {
    { "memory_bytes", JSON_IN_WHOLE, native_memory },
    { "disk_bytes", JSON_IN_WHOLE, native_disk },
    { "processes", JSON_IN_WHOLE, native_processes },
    { "cpu", JSON_IN_NUMBER, native_cpu },
    { "output_bytes", JSON_IN_WHOLE, native_output },
    { "files", JSON_IN_WHOLE, native_open_files },
    { NULL, JSON_IN_STRING, NULL }
};


int
native_limits(json_object *value, native_limits_t *to, err_t *e)
{
    return json_in_keys(value, native_limit_keys, "limits.", to, e);
}
