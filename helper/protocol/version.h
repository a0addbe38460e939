
/*
 * The version that programs and /metrics tell.
 */

#ifndef RETORT_VERSION_H
#define RETORT_VERSION_H


#define RETORT_VERSION  "0.1.0"


#endif /* RETORT_VERSION_H */
