//! The conformance suite of a store, on each store that there is.

mod on_disk {
    tests::store_suite!(tests::on_disk);
}

mod in_memory {
    tests::store_suite!(tests::in_memory);
}

mod in_maps {
    tests::store_suite!(tests::in_maps);
}

mod in_maps_without_exchange {
    tests::store_suite!(tests::in_maps_without_exchange);
}
