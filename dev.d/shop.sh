# ./dev shop: the shop of examples/shop/. Sourced by ../dev.

shop() {
    setup
    setup_shop
    use_build
    python examples/shop/evening.py "$@"
}
