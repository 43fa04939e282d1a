// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

struct MessagingParams {
    uint32 dstEid;
    bytes32 receiver;
    bytes message;
    bytes options;
    bool payInLzToken;
}

struct MessagingFee {
    uint256 nativeFee;
    uint256 lzTokenFee;
}

struct MessagingReceipt {
    bytes32 guid;
    uint64 nonce;
    MessagingFee fee;
}

struct Origin {
    uint32 srcEid;
    bytes32 sender;
    uint64 nonce;
}

interface IReceiver {
    function allowInitializePath(Origin calldata origin) external view returns (bool);
    function lzReceive(
        Origin calldata origin,
        bytes32 guid,
        bytes calldata message,
        address executor,
        bytes calldata extraData
    ) external payable;
}

/// Carries packets between chains: a sent one is an event, one that the library has verified may be
/// delivered by anybody, once. The interface, the layout of packets and the errors are those of
/// EndpointV2 of github.com/LayerZero-Labs/LayerZero-v2; the code is our own. One account, the
/// deliverer's, stands for the send and the receive library of every path.
contract Endpoint {
    uint8 private constant PACKET_VERSION = 1;

    uint32 public immutable eid;
    address public immutable owner;
    address public library_;
    address public constant lzToken = address(0);
    address public constant nativeToken = address(0);
    /// What one packet costs, in wei.
    uint256 public packetFee;

    mapping(address => address) public delegates;
    mapping(address => mapping(uint32 => mapping(bytes32 => uint64))) public outboundNonce;
    mapping(address => mapping(uint32 => mapping(bytes32 => uint64))) public lazyInboundNonce;
    mapping(address => mapping(uint32 => mapping(bytes32 => mapping(uint64 => bytes32)))) public inboundPayloadHash;

    event PacketSent(bytes encodedPayload, bytes options, address sendLibrary);
    event PacketVerified(Origin origin, address receiver, bytes32 payloadHash);
    event PacketDelivered(Origin origin, address receiver);
    event LzReceiveAlert(
        address indexed receiver,
        address indexed executor,
        Origin origin,
        bytes32 guid,
        uint256 gas,
        uint256 value,
        bytes message,
        bytes extraData,
        bytes reason
    );
    event DelegateSet(address sender, address delegate);

    error LZ_LzTokenUnavailable();
    error LZ_InvalidReceiveLibrary();
    error LZ_InvalidNonce(uint64 nonce);
    error LZ_InvalidPayloadHash();
    error LZ_PayloadHashNotFound(bytes32 expected, bytes32 actual);
    error LZ_PathNotInitializable();
    error LZ_PathNotVerifiable();
    error LZ_Unauthorized();
    error LZ_InsufficientFee(
        uint256 requiredNative, uint256 suppliedNative, uint256 requiredLzToken, uint256 suppliedLzToken
    );
    error TransferFailed();

    constructor(uint32 eid_, address library__, uint256 fee) {
        eid = eid_;
        owner = msg.sender;
        library_ = library__;
        packetFee = fee;
    }

    modifier onlyOwner() {
        if (msg.sender != owner) revert LZ_Unauthorized();
        _;
    }

    function setPacketFee(uint256 to) external onlyOwner {
        packetFee = to;
    }

    function setLibrary(address to) external onlyOwner {
        library_ = to;
    }

    function setDelegate(address to) external {
        delegates[msg.sender] = to;
        emit DelegateSet(msg.sender, to);
    }

    function getSendLibrary(address, uint32) external view returns (address) {
        return library_;
    }

    function getReceiveLibrary(address, uint32) external view returns (address lib, bool isDefault) {
        return (library_, true);
    }

    function isValidReceiveLibrary(address, uint32, address lib) public view returns (bool) {
        return lib == library_;
    }

    function nextGuid(address sender, uint32 dstEid, bytes32 receiver) external view returns (bytes32) {
        return _guid(outboundNonce[sender][dstEid][receiver] + 1, sender, dstEid, receiver);
    }

    function quote(MessagingParams calldata params, address) external view returns (MessagingFee memory) {
        if (params.payInLzToken) revert LZ_LzTokenUnavailable();
        return MessagingFee(packetFee, 0);
    }

    function send(MessagingParams calldata params, address refundAddress)
        external
        payable
        returns (MessagingReceipt memory receipt)
    {
        if (params.payInLzToken) revert LZ_LzTokenUnavailable();
        uint64 nonce = ++outboundNonce[msg.sender][params.dstEid][params.receiver];
        bytes32 guid = _guid(nonce, msg.sender, params.dstEid, params.receiver);
        receipt = MessagingReceipt(guid, nonce, MessagingFee(packetFee, 0));
        emit PacketSent(_packet(nonce, guid, params), params.options, library_);
        if (msg.value < packetFee) revert LZ_InsufficientFee(packetFee, msg.value, 0, 0);
        _pay(library_, packetFee);
        _pay(refundAddress, msg.value - packetFee);
    }

    function initializable(Origin calldata origin, address receiver) public view returns (bool) {
        return lazyInboundNonce[receiver][origin.srcEid][origin.sender] > 0
            || IReceiver(receiver).allowInitializePath(origin);
    }

    /// False once the packet was delivered: what is executed is never verified again.
    function verifiable(Origin calldata origin, address receiver) public view returns (bool) {
        return origin.nonce > lazyInboundNonce[receiver][origin.srcEid][origin.sender]
            || inboundPayloadHash[receiver][origin.srcEid][origin.sender][origin.nonce] != bytes32(0);
    }

    function verify(Origin calldata origin, address receiver, bytes32 payloadHash) external {
        if (!isValidReceiveLibrary(receiver, origin.srcEid, msg.sender)) revert LZ_InvalidReceiveLibrary();
        if (!initializable(origin, receiver)) revert LZ_PathNotInitializable();
        if (!verifiable(origin, receiver)) revert LZ_PathNotVerifiable();
        if (payloadHash == bytes32(0)) revert LZ_InvalidPayloadHash();
        inboundPayloadHash[receiver][origin.srcEid][origin.sender][origin.nonce] = payloadHash;
        emit PacketVerified(origin, receiver, payloadHash);
    }

    /// The newest nonce up to which every packet is verified or delivered.
    function inboundNonce(address receiver, uint32 srcEid, bytes32 sender) external view returns (uint64 nonce) {
        nonce = lazyInboundNonce[receiver][srcEid][sender];
        while (inboundPayloadHash[receiver][srcEid][sender][nonce + 1] != bytes32(0)) nonce++;
    }

    function lzReceive(
        Origin calldata origin,
        address receiver,
        bytes32 guid,
        bytes calldata message,
        bytes calldata extraData
    ) external payable {
        _clear(receiver, origin, abi.encodePacked(guid, message));
        IReceiver(receiver).lzReceive{value: msg.value}(origin, guid, message, msg.sender, extraData);
        emit PacketDelivered(origin, receiver);
    }

    function lzReceiveAlert(
        Origin calldata origin,
        address receiver,
        bytes32 guid,
        uint256 gas_,
        uint256 value,
        bytes calldata message,
        bytes calldata extraData,
        bytes calldata reason
    ) external {
        emit LzReceiveAlert(receiver, msg.sender, origin, guid, gas_, value, message, extraData, reason);
    }

    function clear(address oapp, Origin calldata origin, bytes32 guid, bytes calldata message) external {
        if (msg.sender != oapp && msg.sender != delegates[oapp]) revert LZ_Unauthorized();
        _clear(oapp, origin, abi.encodePacked(guid, message));
        emit PacketDelivered(origin, oapp);
    }

    function _clear(address receiver, Origin calldata origin, bytes memory payload) private {
        mapping(uint64 => bytes32) storage hashes = inboundPayloadHash[receiver][origin.srcEid][origin.sender];
        uint64 reached = lazyInboundNonce[receiver][origin.srcEid][origin.sender];
        if (origin.nonce > reached) {
            for (uint64 i = reached + 1; i <= origin.nonce; i++) {
                if (hashes[i] == bytes32(0)) revert LZ_InvalidNonce(i);
            }
            lazyInboundNonce[receiver][origin.srcEid][origin.sender] = origin.nonce;
        }
        bytes32 actual = keccak256(payload);
        bytes32 expected = hashes[origin.nonce];
        if (expected != actual) revert LZ_PayloadHashNotFound(expected, actual);
        delete hashes[origin.nonce];
    }

    function _guid(uint64 nonce, address sender, uint32 dstEid, bytes32 receiver) private view returns (bytes32) {
        return keccak256(abi.encodePacked(nonce, eid, bytes32(uint256(uint160(sender))), dstEid, receiver));
    }

    function _packet(uint64 nonce, bytes32 guid, MessagingParams calldata params)
        private
        view
        returns (bytes memory)
    {
        bytes32 sender = bytes32(uint256(uint160(msg.sender)));
        bytes memory head = abi.encodePacked(PACKET_VERSION, nonce, eid, sender, params.dstEid, params.receiver);
        return bytes.concat(head, guid, params.message);
    }

    function _pay(address to, uint256 value) private {
        if (value == 0) return;
        (bool ok,) = to.call{value: value}("");
        if (!ok) revert TransferFailed();
    }
}
