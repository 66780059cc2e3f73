"""Profiles of pprof, read by protobuf's decoder."""

import gzip

# The part of profile.proto that is used: field, number, and a type; * is repeated.
PPROF = {
    "Profile": "sample_type 1 ValueType*, sample 2 Sample*, mapping 3 Mapping*, location 4 Location*, "
    "function 5 Function*, string_table 6 string*, time_nanos 9 int64, duration_nanos 10 int64, comment 13 int64*, "
    "default_sample_type 14 int64",
    "ValueType": "type 1 int64, unit 2 int64",
    "Sample": "location_id 1 uint64*, value 2 int64*, label 3 Label*",
    "Label": "key 1 int64, str 2 int64, num 3 int64, num_unit 4 int64",
    "Mapping": "id 1 uint64, filename 5 int64, has_functions 7 bool, has_filenames 8 bool, has_line_numbers 9 bool",
    "Location": "id 1 uint64, mapping_id 2 uint64, address 3 uint64, line 4 Line*",
    "Line": "function_id 1 uint64, line 2 int64",
    "Function": "id 1 uint64, name 2 int64, system_name 3 int64, filename 4 int64, start_line 5 int64",
}


def read_pprof(file):
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    schema = descriptor_pb2.FileDescriptorProto(name="profile.proto", package="pprof", syntax="proto3")
    for name, fields in PPROF.items():
        message = schema.message_type.add(name=name)
        for text in fields.split(", "):
            field, number, kind = text.split()
            one = message.field.add(name=field, number=int(number), label=3 if kind.endswith("*") else 1)
            kind = kind.rstrip("*")
            if kind in PPROF:
                one.type, one.type_name = one.TYPE_MESSAGE, f".pprof.{kind}"
            else:
                one.type = getattr(one, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(schema)
    profile = message_factory.GetMessageClass(pool.FindMessageTypeByName("pprof.Profile"))()
    profile.ParseFromString(gzip.decompress(file.read_bytes()))
    return profile
