
/* SHA-256 (FIPS 180-4): nginx may be built without OpenSSL */

#include "ngx_http_retort_module.h"


static void ngx_http_retort_sha256_block(uint32_t *h, u_char *p);


static const uint32_t  ngx_http_retort_sha256_k[] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5,
    0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
    0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5,
    0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};


#define ngx_http_retort_ror(x, n)  (((x) >> (n)) | ((x) << (32 - (n))))


void
ngx_http_retort_sha256(u_char result[NGX_HTTP_RETORT_SHA256], u_char *data,
    size_t len)
{
    u_char      tail[128];
    size_t      rest, size;
    uint64_t    bits;
    uint32_t    h[8] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19
    };
    ngx_uint_t  i;

    bits = (uint64_t) len * 8;

    for (rest = len; rest >= 64; rest -= 64) {
        ngx_http_retort_sha256_block(h, data);
        data += 64;
    }

    size = (rest < 56) ? 64 : 128;

    ngx_memzero(tail, sizeof(tail));
    ngx_memcpy(tail, data, rest);
    tail[rest] = 0x80;

    for (i = 1; i <= 8; i++) {
        tail[size - i] = (u_char) (bits & 0xff);
        bits >>= 8;
    }

    ngx_http_retort_sha256_block(h, tail);

    if (size == 128) {
        ngx_http_retort_sha256_block(h, tail + 64);
    }

    for (i = 0; i < NGX_HTTP_RETORT_SHA256; i++) {
        result[i] = (u_char) ((h[i / 4] >> (24 - 8 * (i % 4))) & 0xff);
    }
}


static void
ngx_http_retort_sha256_block(uint32_t *h, u_char *p)
{
    uint32_t    w[64], v[8], s0, s1, t1, t2;
    ngx_uint_t  i;

    for (i = 0; i < 16; i++, p += 4) {
        w[i] = (uint32_t) p[0] << 24 | (uint32_t) p[1] << 16
               | (uint32_t) p[2] << 8 | p[3];
    }

    for (i = 16; i < 64; i++) {
        s0 = ngx_http_retort_ror(w[i - 15], 7)
             ^ ngx_http_retort_ror(w[i - 15], 18) ^ (w[i - 15] >> 3);
        s1 = ngx_http_retort_ror(w[i - 2], 17)
             ^ ngx_http_retort_ror(w[i - 2], 19) ^ (w[i - 2] >> 10);

        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }

    ngx_memcpy(v, h, sizeof(v));

    for (i = 0; i < 64; i++) {
        s1 = ngx_http_retort_ror(v[4], 6) ^ ngx_http_retort_ror(v[4], 11)
             ^ ngx_http_retort_ror(v[4], 25);
        t1 = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6]))
             + ngx_http_retort_sha256_k[i] + w[i];

        s0 = ngx_http_retort_ror(v[0], 2) ^ ngx_http_retort_ror(v[0], 13)
             ^ ngx_http_retort_ror(v[0], 22);
        t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));

        ngx_memmove(&v[1], &v[0], 7 * sizeof(uint32_t));

        v[4] += t1;
        v[0] = t1 + t2;
    }

    for (i = 0; i < 8; i++) {
        h[i] += v[i];
    }
}
